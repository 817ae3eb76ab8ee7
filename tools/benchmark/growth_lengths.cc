// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/application/writers/null_writer.h"
#include "core/application/writers/picture.h"
#include "tools/benchmark/codec_clip.h"
#include "tools/benchmark/growth.h"
#include "tools/benchmark/in_process_decoder.h"
#include "tools/benchmark/processes.h"
#include "tools/benchmark/stopwatch.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr int kPlaces = 10;
constexpr uint32_t kFramesASecond = 30;
constexpr uint32_t kSeed = 20242;

// The figures of one decoder in one round.
struct Step {
  double open_ms = 0;
  double random_ms = 0;  // The time for one frame.
  double megabytes = 0;
};

// Measures Bulkhead. Appends the timestamps of the frames at `places` to
// `timestamps`, for MeasureInProcess(), which has no index.
Result<Step> MeasureBulkhead(Host& host, const std::string& clip,
                             const std::vector<int64_t>& places,
                             std::vector<int64_t>& timestamps) {
  Step step;
  writers::NullWriter reader;
  const Result<double> before = MegabytesOf(host);
  if (!before) return before.error();
  Clock::time_point start = Clock::now();
  Result<VideoDecoder> video = host.OpenVideo(clip);
  if (!video) return video.error();
  {
    const Result<Frame> first = video->FrameAt(0);
    if (!first) return first.error();
    (void)reader.Write(writers::PictureOf(*first));
  }
  step.open_ms = MillisecondsSince(start);
  const Result<double> opened = MegabytesOf(host);
  if (!opened) return opened.error();
  step.megabytes = *opened - *before;
  start = Clock::now();
  for (const int64_t place : places) {
    const Result<Frame> frame = video->FrameAt(place);
    if (!frame) return frame.error();
    (void)reader.Write(writers::PictureOf(*frame));
    timestamps.push_back(frame->pts().value_or(0));
  }
  step.random_ms = MillisecondsSince(start) / static_cast<double>(kPlaces);
  return step;
}

// Measures libav in this process. It reads all packets before the first frame,
// as Bulkhead does for its index, but decodes at given timestamps.
Result<Step> MeasureInProcess(const Host& host, const std::string& clip,
                              const std::vector<int64_t>& timestamps) {
  Step step;
  writers::NullWriter reader;
  const Result<double> before = MegabytesOf(host);
  if (!before) return before.error();
  Clock::time_point start = Clock::now();
  const auto decoder = InProcessDecoder::Open(clip);
  if (!decoder) return decoder.error();
  if (const auto packets = (*decoder)->ReadAllPackets(); !packets) {
    return packets.error();
  }
  if (const Result<bool> first = (*decoder)->Next(); !first) {
    return first.error();
  }
  (void)reader.Write((*decoder)->picture());
  step.open_ms = MillisecondsSince(start);
  const Result<double> opened = MegabytesOf(host);
  if (!opened) return opened.error();
  step.megabytes = *opened - *before;
  start = Clock::now();
  for (const int64_t timestamp : timestamps) {
    const Status at = (*decoder)->DecodeAt(timestamp);
    if (!at.ok()) return at;
    (void)reader.Write((*decoder)->picture());
  }
  step.random_ms = MillisecondsSince(start) / static_cast<double>(kPlaces);
  return step;
}

// Adds the figures to a row, with their ratios to the figures `anchor` of
// libav.
void Note(const Step& step, const Step& anchor, Row& row) {
  if (row.series.empty()) {
    row.series = {{"open, index, first frame", "ms", {}},
                  {"open / libav", "x", {}},
                  {"a frame at random", "ms", {}},
                  {"random / libav", "x", {}},
                  {"memory", "MB", {}}};
  }
  row.series[0].values.push_back(step.open_ms);
  row.series[1].values.push_back(step.open_ms / anchor.open_ms);
  row.series[2].values.push_back(step.random_ms);
  row.series[3].values.push_back(step.random_ms / anchor.random_ms);
  row.series[4].values.push_back(step.megabytes);
}

}  // namespace

Result<Table> MeasureLengths(const GrowthOptions& options) {
  std::vector<uint32_t> lengths = {1, 10, 100};
  if (options.run.quick) lengths = {1};
  std::vector<std::string> clips;
  for (const uint32_t seconds : lengths) {
    const Result<std::string> clip =
        CachedCodecClip({Codec::kH264, 480, seconds * kFramesASecond});
    if (!clip) return clip.error();
    clips.push_back(*clip);
  }
  const Result<std::unique_ptr<Host>> host = Host::Create(options.host);
  if (!host) return host.error();
  if (Status status = (*host)->Prewarm("cpu"); !status.ok()) return status;
  // The number of processes while no session is open: those that run now, and
  // the spare worker that bulkheadd keeps ready after the first session.
  const size_t processes = ProcessesOf(**host).size() + 1;
  Table table{.title = "Length of a 480p file", .rows = {}, .notes = {}};
  std::mt19937 random(kSeed);
  // Round -1 is a warm-up and does not count.
  for (int round = options.run.quick ? 0 : -1; round < RoundsOf(options.run);
       ++round) {
    for (size_t i = 0; i < lengths.size(); ++i) {
      std::vector<int64_t> places(kPlaces);
      for (int64_t& place : places) {
        place = std::uniform_int_distribution<int64_t>(
            0, int64_t{lengths[i]} * kFramesASecond - 1)(random);
      }
      std::vector<int64_t> timestamps;
      if (Status status = AwaitAtMost(**host, processes); !status.ok()) {
        return status;
      }
      const Result<Step> ours =
          MeasureBulkhead(**host, clips[i], places, timestamps);
      if (!ours) return ours.error();
      const Result<Step> anchor =
          MeasureInProcess(**host, clips[i], timestamps);
      if (!anchor) return anchor.error();
      if (round < 0) continue;
      Note(*ours, *anchor,
           RowOf(table, {{"seconds", lengths[i]}, {"decoder", "Bulkhead"}}));
      Note(*anchor, *anchor,
           RowOf(table,
                 {{"seconds", lengths[i]}, {"decoder", "libav in process"}}));
    }
  }
  cli::Say("lengths: done");
  return table;
}

}  // namespace bulkhead::benchmark
