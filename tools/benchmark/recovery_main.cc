// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/benchmark/cached_clip.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/recovery.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures how soon a stream continues after its worker was killed, beside a
reopen, seek and decode of the same frame by libav in this process: 480p and
1080p, with a keyframe every 30 and every 250 frames. One thread; the rounds of
all clips are interleaved, each at another distance from the keyframe.)";

constexpr cli::demo::SampleClip kClips[] = {Clip480p(30), Clip480p(250),
                                            Clip1080p(30), Clip1080p(250)};

struct Measured {
  std::string name;
  std::string clip;
  uint64_t frames;
  Recovery recovery;

  std::vector<Series> Report() const {
    return {recovery.next_frame, recovery.recovered, recovery.reopen_in_process,
            Ratio("recovery / in process, aim: at most 1.5", recovery.recovered,
                  recovery.reopen_in_process)};
  }
};

Result<std::vector<Measured>> Measure(const HostOptions& options, int rounds) {
  std::vector<Measured> all;
  for (const cli::demo::SampleClip& clip : kClips) {
    Result<std::string> path = CachedClip(clip);
    if (!path) return path.error();
    all.push_back({.name = fmt::format("{}p, a keyframe every {} frames",
                                       clip.height, clip.key_interval),
                   .clip = *path,
                   .frames = clip.frames,
                   .recovery = {}});
  }
  Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  for (int round = -1; round < rounds; ++round) {
    for (Measured& measured : all) {
      const Status status = MeasureRecovery(
          **host, measured.clip, measured.frames, round, measured.recovery);
      if (!status.ok()) return status;
      // Round -1 is a warm-up and does not count.
      if (round < 0) measured.recovery = Recovery();
    }
  }
  return all;
}

int Run(int argc, char** argv) {
  RunOptions options;
  std::string libexec;
  cli::Command program("bench --recovery", kPurpose);
  AddRunOptions(program, options);
  AddLibexecOption(program, libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(libexec);
  cli::Say(fmt::format("measuring, {} rounds", options.rounds));
  const Result<std::vector<Measured>> all =
      Measure(host_options, options.rounds);
  if (!all) return cli::Fail(all.error());
  std::cout << MachineLine("")
            << fmt::format("median of {} rounds (lowest to highest)\n",
                           options.rounds);
  nlohmann::ordered_json clips = nlohmann::ordered_json::array();
  for (const Measured& measured : *all) {
    const std::vector<Series> report = measured.Report();
    std::cout << fmt::format("\n{}\n", measured.name);
    for (const Series& series : report) std::cout << LineOf(series) << '\n';
    clips.push_back({{"clip", measured.name}, {"series", FactsOf(report)}});
  }
  return WriteFacts({{"machine", MachineFacts()},
                     {"rounds", options.rounds},
                     {"clips", clips}},
                    options);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
