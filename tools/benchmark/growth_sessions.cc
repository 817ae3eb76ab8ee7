// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
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

constexpr char kBulkhead[] = "Bulkhead";
constexpr char kInProcess[] = "libav in process";
// The frame slots of a session. With more, a thousand sessions would need more
// memory than most machines have.
constexpr uint32_t kFrameSlots = 2;
// The number of frames taken from each session, one session after the other.
// More than the slots, so that frames decoded ahead do not count much.
constexpr int kTurns = 6;
// The memory that must stay free for other processes.
constexpr double kSpareMegabytes = 2'000;

// Open streams of one decoder, all of the same clip.
class Streams {
 public:
  virtual ~Streams() = default;
  virtual Status Open(const std::string& clip) = 0;
  // Takes the next frame of stream `i`.
  virtual Status Next(size_t i) = 0;
};

class BulkheadStreams : public Streams {
 public:
  explicit BulkheadStreams(Host& host) : host_(host) {}

  Status Open(const std::string& clip) override {
    Result<VideoDecoder> video = host_.OpenVideo(clip);
    if (!video) return video.error();
    videos_.push_back(*std::move(video));
    return Status();
  }
  Status Next(size_t i) override {
    const Result<Frame> frame = NextFrame(videos_[i]);
    if (!frame) return frame.error();
    return reader_.Write(writers::PictureOf(*frame));
  }

 private:
  Host& host_;
  std::vector<VideoDecoder> videos_;
  writers::NullWriter reader_;
};

class InProcessStreams : public Streams {
 public:
  Status Open(const std::string& clip) override {
    auto decoder = InProcessDecoder::Open(clip);
    if (!decoder) return decoder.error();
    decoders_.push_back(*std::move(decoder));
    return Status();
  }
  Status Next(size_t i) override {
    const Result<bool> next = decoders_[i]->Next();
    if (!next) return next.error();
    return reader_.Write(decoders_[i]->picture());
  }

 private:
  std::vector<std::unique_ptr<InProcessDecoder>> decoders_;
  writers::NullWriter reader_;
};

// The figures of one decoder in one round.
struct Step {
  double start_ms = 0;   // The mean time to open a stream.
  double megabytes = 0;  // The memory of all streams before the first frame.
  double with_frames_megabytes = 0;
  double descriptors = 0;
  double frames_a_second = 0;
};

// Opens `count` streams, and takes a frame of each in turn, `turns` times.
Result<Step> Measure(Streams& streams, const Host& host,
                     const std::string& clip, int count, int turns) {
  Step step;
  const Result<double> before = MegabytesOf(host);
  if (!before) return before.error();
  const int descriptors_before = OpenDescriptors();
  Clock::time_point start = Clock::now();
  for (int i = 0; i < count; ++i) {
    if (Status status = streams.Open(clip); !status.ok()) {
      return status.WithContext(fmt::format("stream {}", i + 1));
    }
  }
  step.start_ms = MillisecondsSince(start) / count;
  step.descriptors = OpenDescriptors() - descriptors_before;
  const Result<double> opened = MegabytesOf(host);
  if (!opened) return opened.error();
  step.megabytes = *opened - *before;
  start = Clock::now();
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < count; ++i) {
      if (Status status = streams.Next(static_cast<size_t>(i)); !status.ok()) {
        return status.WithContext(fmt::format("a frame of stream {}", i + 1));
      }
    }
  }
  step.frames_a_second = turns * count * 1e3 / MillisecondsSince(start);
  const Result<double> with_frames = MegabytesOf(host);
  if (!with_frames) return with_frames.error();
  step.with_frames_megabytes = *with_frames - *before;
  return step;
}

// Adds the figures of one round to the row. `in_process_rate` is the frames per
// second of libav.
void Note(const Step& step, double in_process_rate, Row& row) {
  if (row.series.empty()) {
    row.series = {{"start of one", "ms", {}},  {"memory", "MB", {}},
                  {"with frames", "MB", {}},   {"descriptors", "", {}},
                  {"in turn", "frames/s", {}}, {"in turn / libav", "x", {}}};
  }
  row.series[0].values.push_back(step.start_ms);
  row.series[1].values.push_back(step.megabytes);
  row.series[2].values.push_back(step.with_frames_megabytes);
  row.series[3].values.push_back(step.descriptors);
  row.series[4].values.push_back(step.frames_a_second);
  row.series[5].values.push_back(step.frames_a_second / in_process_rate);
}

// Measures one decoder with growing numbers of streams. Predicts from each step
// the memory of the next.
class Ascent {
 public:
  using Make = std::function<std::unique_ptr<Streams>()>;

  Ascent(std::string name, const Host& host, bool quick, Make make)
      : name_(std::move(name)),
        host_(host),
        quick_(quick),
        make_(std::move(make)) {}

  // Measures `count` streams and adds the figures to the table. `anchor` is the
  // frames per second of libav, for the ratio; nullopt if libav is measured.
  // Returns the frames per second, or 0 if the row is not reached.
  Result<double> Climb(const std::string& clip, int count,
                       std::optional<double> anchor, Table& table) {
    Row& row = RowOf(table, {{"sessions", count}, {"decoder", name_}});
    if (!row.not_reached.empty()) return 0.0;
    if (Status status = AwaitAtMost(host_, processes_); !status.ok()) {
      return status;
    }
    const double needed = megabytes_of_one_ * count;
    const double available = AvailableMegabytes() - kSpareMegabytes;
    if (needed > available) {
      row.not_reached = fmt::format(
          "it would take {:.1f} GB of memory, and {:.1f} GB are free",
          needed / 1e3, available / 1e3);
      return 0.0;
    }
    const std::unique_ptr<Streams> streams = make_();
    const int turns = quick_ ? 1 : std::max(kTurns, 60 / count);
    const Result<Step> step = Measure(*streams, host_, clip, count, turns);
    if (!step && step.error().code() == Code::kUnsupported) {
      return step.error();
    }
    if (!step) {
      row.not_reached = step.error().message();
      return 0.0;
    }
    megabytes_of_one_ =
        std::max(step->megabytes, step->with_frames_megabytes) / count;
    Note(*step, anchor.value_or(step->frames_a_second), row);
    return step->frames_a_second;
  }

 private:
  const std::string name_;
  const Host& host_;
  const bool quick_;
  // The number of processes while no session is open: those that run now, and
  // the spare worker that bulkheadd keeps ready after the first session.
  const size_t processes_ = ProcessesOf(host_).size() + 1;
  const Make make_;
  double megabytes_of_one_ = 0;
};

}  // namespace

Result<Table> MeasureSessions(const GrowthOptions& options) {
  const Result<std::string> clip =
      CachedCodecClip({Codec::kH264, 480, options.run.quick ? 12u : 300u});
  if (!clip) return clip.error();
  HostOptions host_options = options.host;
  host_options.limits.frame_slots = kFrameSlots;
  const Result<std::unique_ptr<Host>> host = Host::Create(host_options);
  if (!host) return host.error();
  if (Status status = (*host)->Prewarm("cpu"); !status.ok()) return status;
  Ascent in_process(kInProcess, **host, options.run.quick,
                    [] { return std::make_unique<InProcessStreams>(); });
  Ascent ours(kBulkhead, **host, options.run.quick,
              [&] { return std::make_unique<BulkheadStreams>(**host); });
  std::vector<int> counts = {1, 10, 100, 256, 500, 1000};
  if (options.run.quick) counts = {1, 2};
  Table table{
      .title = fmt::format("Sessions of 480p at once, {} frame slots each",
                           kFrameSlots),
      .rows = {},
      .notes = {"memory is the proportional set size of the application, "
                "bulkheadd and all that it started, less that of no session"}};
  // Round -1 is a warm-up of the smallest steps and does not count.
  for (int round = options.run.quick ? 0 : -1; round < RoundsOf(options.run);
       ++round) {
    for (const int count : counts) {
      if (count > options.most_sessions || (round < 0 && count > 10)) continue;
      const Result<double> anchor =
          in_process.Climb(*clip, count, std::nullopt, table);
      if (!anchor) return anchor.error();
      const Result<double> rate = ours.Climb(*clip, count, *anchor, table);
      if (!rate) return rate.error();
    }
    if (round < 0) table.rows.clear();
    cli::Say(fmt::format("sessions: round {} of {}", round + 1,
                         RoundsOf(options.run)));
  }
  return table;
}

}  // namespace bulkhead::benchmark
