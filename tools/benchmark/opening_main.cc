// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "core/application/writers/null_writer.h"
#include "core/application/writers/picture.h"
#include "tools/benchmark/codec_clip.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/in_process_decoder.h"
#include "tools/benchmark/peer.h"
#include "tools/benchmark/pipe_reader.h"
#include "tools/benchmark/series.h"
#include "tools/benchmark/stopwatch.h"
#include "tools/benchmark/table.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures what a stream costs before its second frame: the time to open a
clip, index it and decode the first frame by Bulkhead, by libav in this process (one
find_stream_info, one pass over the packets), PyAV, OpenCV and FFMS2; the first
stream of a new Host, with bulkheadd and the backend, beside a new ffmpeg process; the start of a session's
worker beside the start of a process.)";

constexpr char kBulkhead[] = "Bulkhead";
constexpr int kStartsARound = 20;

struct Options {
  RunOptions run;
  std::string script;
  std::string libexec;
};

// Returns the milliseconds to open a stream, index it and get a first frame.
Result<double> OpenByBulkhead(Host& host, const std::string& clip) {
  writers::NullWriter reader;
  const Clock::time_point start = Clock::now();
  Result<VideoDecoder> video = host.OpenVideo(clip);
  if (!video) return video.error();
  const Result<Frame> frame = video->FrameAt(0);
  if (!frame) return frame.error();
  (void)reader.Write(writers::PictureOf(*frame));
  return MillisecondsSince(start);
}

// Measures the same with libav in this process. libav makes no index, so this
// reads all packets instead.
Result<double> OpenInProcess(const std::string& clip) {
  writers::NullWriter reader;
  const Clock::time_point start = Clock::now();
  const auto decoder = InProcessDecoder::Open(clip);
  if (!decoder) return decoder.error();
  const Result<uint64_t> packets = (*decoder)->ReadAllPackets();
  if (!packets) return packets.error();
  const Result<bool> frame = (*decoder)->Next();
  if (!frame) return frame.error();
  (void)reader.Write((*decoder)->picture());
  return MillisecondsSince(start);
}

// The decoders that open one clip, in all rounds.
class Openers {
 public:
  Openers(Host& host, std::string clip, const std::string& script)
      : host_(host), clip_(std::move(clip)) {
    for (const char* kind : {"pyav", "opencv", "ffms2"}) {
      auto peer = Peer::Start({script, kind, clip_});
      if (peer) {
        peers_.push_back(*std::move(peer));
      } else {
        missing_.push_back({kind, peer.error().message()});
      }
    }
  }

  // Measures each decoder once. Fills the table if the round `counts`.
  Status MeasureRound(const std::string& clip_name, bool counts, Table& table) {
    const auto ours = OpenByBulkhead(host_, clip_);
    if (Status status = Note(clip_name, kBulkhead, ours, ours, counts, table);
        !status.ok()) {
      return status;
    }
    if (Status status = Note(clip_name, "libav in process",
                             OpenInProcess(clip_), ours, counts, table);
        !status.ok()) {
      return status;
    }
    for (const auto& peer : peers_) {
      // The warm-up decodes the pass with which Random() compares its pictures.
      if (!counts) {
        if (const auto pass = peer->Sequential(); !pass) return pass.error();
      }
      const auto opened = peer->Random(std::vector<int64_t>{0});
      if (!opened) return opened.error();
      Status status =
          Note(clip_name, peer->name(), opened->open_ms, ours, counts, table);
      if (!status.ok()) return status;
    }
    for (const auto& [kind, reason] : missing_) {
      RowOf(table, {{"clip", clip_name}, {"decoder", kind}}).not_reached =
          reason + "; tools/bench --opening installs it";
    }
    return Status();
  }

 private:
  // Adds the time of a decoder, and its ratio to Bulkhead's time, `ours`.
  static Status Note(const std::string& clip_name, const std::string& decoder,
                     const Result<double>& took, const Result<double>& ours,
                     bool counts, Table& table) {
    if (!took) return took.error();
    Row& row = RowOf(table, {{"clip", clip_name}, {"decoder", decoder}});
    if (row.series.empty()) {
      row.series = {{"time", "ms", {}}, {"Bulkhead / it", "x", {}}};
    }
    if (!counts) return Status();
    row.series[0].values.push_back(*took);
    row.series[1].values.push_back(*ours / *took);
    return Status();
  }

  Host& host_;
  const std::string clip_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::pair<std::string, std::string>> missing_;
};

// Returns the milliseconds from Host::Create() to the first frame.
Result<double> FirstStreamByBulkhead(const HostOptions& options,
                                     const std::string& clip) {
  const Clock::time_point start = Clock::now();
  const Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  Result<VideoDecoder> video = (*host)->OpenVideo(clip);
  if (!video) return video.error();
  const Result<Frame> frame = NextFrame(*video);
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

Result<double> FirstFrameOfFfmpeg(const std::string& clip) {
  const Clock::time_point start = Clock::now();
  const auto reader = PipeReader::Start(clip, 854, 480);
  if (!reader) return reader.error();
  const Result<bool> frame = (*reader)->Next();
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

// Returns the median start time of a session's worker, in milliseconds.
Result<double> StartOfSession(Host& host, const std::string& clip) {
  Series starts;
  for (int i = 0; i < kStartsARound; ++i) {
    const Result<VideoDecoder> video = host.OpenVideo(clip);
    if (!video) return video.error();
    starts.values.push_back(std::chrono::duration<double, std::milli>(
                                video->recovery().worker_start)
                                .count());
  }
  return starts.Median();
}

// Returns the median time to start and end a small program, in milliseconds.
Result<double> StartOfProcess() {
  Series starts;
  for (int i = 0; i < kStartsARound; ++i) {
    std::string name = "/bin/true";
    char* const argv[] = {name.data(), nullptr};
    const Clock::time_point start = Clock::now();
    pid_t pid = 0;
    if (posix_spawn(&pid, name.c_str(), nullptr, nullptr, argv, environ) != 0) {
      return Status(Code::kNotFound, "cannot run " + name);
    }
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    starts.values.push_back(MillisecondsSince(start));
  }
  return starts.Median();
}

// Adds the times of Bulkhead and of the anchor, and their ratio, to the row.
Status NoteStart(const char* what, const char* anchor_name,
                 const Result<double>& ours, const Result<double>& anchor,
                 bool counts, Table& table) {
  if (!ours) return ours.error();
  if (!anchor) return anchor.error();
  Row& row = RowOf(table, {{"start of", what}, {"anchor", anchor_name}});
  if (row.series.empty()) {
    row.series = {{"Bulkhead", "ms", {}},
                  {"anchor", "ms", {}},
                  {"Bulkhead / anchor", "x", {}}};
  }
  if (!counts) return Status();
  row.series[0].values.push_back(*ours);
  row.series[1].values.push_back(*anchor);
  row.series[2].values.push_back(*ours / *anchor);
  return Status();
}

Result<std::vector<Table>> Measure(const Options& options) {
  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(options.libexec);
  const Result<std::unique_ptr<Host>> host = Host::Create(host_options);
  if (!host) return host.error();
  const uint32_t frames = options.run.quick ? 12 : 300;
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Openers>> openers;
  std::string small;
  for (const uint32_t height : {480u, 1080u}) {
    if (options.run.quick && height > 480) break;
    const Result<std::string> clip =
        CachedCodecClip({Codec::kH264, height, frames});
    if (!clip) return clip.error();
    if (height == 480) small = *clip;
    names.push_back(fmt::format("{}p", height));
    openers.push_back(std::make_unique<Openers>(**host, *clip, options.script));
  }
  cli::Say(fmt::format("measuring, {} rounds", RoundsOf(options.run)));
  Table opening{
      .title = fmt::format(
          "Open, index and the first frame of {} frames of H.264", frames),
      .rows = {},
      .notes = {"PyAV makes no index, OpenCV takes the number of "
                "frames from the header"}};
  Table starts{.title = "Starts", .rows = {}, .notes = {}};
  // Round -1 is a warm-up and does not count.
  for (int round = -1; round < RoundsOf(options.run); ++round) {
    const bool counts = round >= 0;
    for (size_t i = 0; i < openers.size(); ++i) {
      const Status status = openers[i]->MeasureRound(names[i], counts, opening);
      if (!status.ok()) return status;
    }
    Status status =
        NoteStart("the first stream of a new Host", "a new ffmpeg, first frame",
                  FirstStreamByBulkhead(host_options, small),
                  FirstFrameOfFfmpeg(small), counts, starts);
    if (!status.ok()) return status;
    status = NoteStart("a session's worker, sandboxed", "/bin/true and its end",
                       StartOfSession(**host, small), StartOfProcess(), counts,
                       starts);
    if (!status.ok()) return status;
  }
  return std::vector<Table>{std::move(opening), std::move(starts)};
}

int Run(int argc, char** argv) {
  // A peer may end at any time. With SIGPIPE ignored, the next request fails
  // with an error instead of ending this program.
  signal(SIGPIPE, SIG_IGN);
  Options options;
  cli::Command program("bench --opening", kPurpose);
  AddRunOptions(program, options.run);
  AddFigureOptions(program, options.run);
  program.AddOption("--script FILE", &options.script, "Where peers.py is")
      .Required();
  AddLibexecOption(program, options.libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  const Result<std::vector<Table>> tables = Measure(options);
  if (!tables) return cli::Fail(tables.error());
  return Publish("opening", *tables, options.run);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
