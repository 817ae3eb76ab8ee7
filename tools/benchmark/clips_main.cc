// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/benchmark/codec_clip.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/decode_pass.h"
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
    R"(Measures how fast many short clips (480p H.264, 0.4 s) are decoded, 1, 8 and
64 at once in as many threads: by Bulkhead's cpu backend, by libav in this process,
by one ffmpeg process a clip read through a pipe, and by PyAV. Every byte of every
frame is read.)";

constexpr char kBulkhead[] = "Bulkhead";
constexpr uint32_t kFrames = 12;

struct Options {
  RunOptions run;
  std::string script;
  std::string libexec;
};

// A function that decodes the clip once.
using Decode = std::function<Result<Pass>()>;

// Calls `decode` `clips` times, in `at_once` threads. Returns the seconds.
Result<double> DecodeClips(const Decode& decode, int at_once, int clips) {
  std::atomic<int> next = 0;
  std::vector<Status> failures(static_cast<size_t>(at_once));
  const auto work = [&](Status& failure) {
    while (next++ < clips) {
      const Result<Pass> pass = decode();
      if (!pass) {
        failure = pass.error();
      } else if (pass->frames != kFrames) {
        failure = Status(Code::kInternal,
                         fmt::format("{} frames of a clip that has {}",
                                     pass->frames, kFrames));
      }
      if (!failure.ok()) return;
    }
  };
  const Clock::time_point start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (Status& failure : failures)
      threads.emplace_back(work, std::ref(failure));
  }
  const double seconds = MillisecondsSince(start) / 1e3;
  for (const Status& failure : failures) {
    if (!failure.ok()) return failure;
  }
  return seconds;
}

Result<Pass> DecodeThroughPipe(const std::string& clip) {
  Consumer consumer;
  const auto reader = PipeReader::Start(clip, 854, 480);
  if (!reader) return reader.error();
  return Drain(**reader, consumer);
}

// The decoders that are compared, on one clip.
class Contest {
 public:
  Contest(Host& host, std::string clip, const std::string& script)
      : clip_(std::move(clip)) {
    decoders_ = {
        {kBulkhead, [this, &host] { return DecodeByBulkhead(host, clip_); }},
        {"libav in process", [this] { return DecodeInProcess(clip_); }},
        {"one ffmpeg a clip", [this] { return DecodeThroughPipe(clip_); }}};
    auto peer = Peer::Start({script, "pyav", clip_});
    if (peer) {
      peer_ = *std::move(peer);
    } else {
      missing_ = peer.error().message();
    }
  }

  // Measures each decoder once. Fills the table if the round `counts`.
  Status MeasureRound(int at_once, int clips, bool counts, Table& table) {
    double ours = 0;
    for (const auto& [name, decode] : decoders_) {
      const Result<double> seconds = DecodeClips(decode, at_once, clips);
      if (!seconds) return seconds.error().WithContext(name);
      if (name == kBulkhead) ours = *seconds;
      Note(at_once, name, clips, *seconds, ours, counts, table);
    }
    if (!peer_) {
      RowOf(table, {{"at once", at_once}, {"decoder", "PyAV"}}).not_reached =
          missing_ + "; tools/bench --clips installs it";
      return Status();
    }
    const Result<SequentialPass> pass = peer_->Clips(at_once, clips);
    if (!pass) return pass.error();
    Note(at_once, peer_->name(), clips, pass->seconds, ours, counts, table);
    return Status();
  }

 private:
  // Adds the clips per second of a decoder, which took `seconds`, and the ratio
  // to Bulkhead, which took `ours` seconds.
  static void Note(int at_once, const std::string& decoder, int clips,
                   double seconds, double ours, bool counts, Table& table) {
    Row& row = RowOf(table, {{"at once", at_once}, {"decoder", decoder}});
    if (row.series.empty()) {
      row.series = {{"clips", "1/s", {}}, {"Bulkhead / it", "x", {}}};
    }
    if (!counts) return;
    row.series[0].values.push_back(clips / seconds);
    row.series[1].values.push_back(seconds / ours);
  }

  const std::string clip_;
  std::vector<std::pair<std::string, Decode>> decoders_;
  std::unique_ptr<Peer> peer_;  // PyAV; null if it is not installed.
  std::string missing_;         // The reason why there is no `peer_`.
};

int Run(int argc, char** argv) {
  // A peer may end at any time. With SIGPIPE ignored, the next request fails
  // with an error instead of ending this program.
  signal(SIGPIPE, SIG_IGN);
  Options options{.run = {.rounds = 5}};
  cli::Command program("bench --clips", kPurpose);
  AddRunOptions(program, options.run);
  AddFigureOptions(program, options.run);
  program.AddOption("--script FILE", &options.script, "Where peers.py is")
      .Required();
  AddLibexecOption(program, options.libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  const Result<std::string> clip =
      CachedCodecClip({Codec::kH264, 480, kFrames});
  if (!clip) return cli::Fail(clip.error());
  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(options.libexec);
  const Result<std::unique_ptr<Host>> host = Host::Create(host_options);
  if (!host) return cli::Fail(host.error());
  const int clips = options.run.quick ? 2 : 100;
  Contest contest(**host, *clip, options.script);
  Table table{.title = fmt::format("{} clips of {} frames", clips, kFrames),
              .rows = {},
              .notes = {"PyAV's threads share Python's lock"}};
  // Round -1 is a warm-up and does not count.
  for (int round = options.run.quick ? 0 : -1; round < RoundsOf(options.run);
       ++round) {
    for (const int at_once : {1, 8, 64}) {
      const Status status = contest.MeasureRound(
          std::min(at_once, options.run.quick ? 2 : at_once), clips, round >= 0,
          table);
      if (!status.ok()) return cli::Fail(status);
    }
    cli::Say(fmt::format("round {} of {}", round + 1, RoundsOf(options.run)));
  }
  return Publish("clips", std::array{table}, options.run);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
