// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/clip_bench.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/benchmark/cached_clip.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {

int RunOnClips(const RunOptions& options, const std::string& libexec,
               const std::string& conditions, const MeasureClip& measure) {
  // A peer may end at any time. With SIGPIPE ignored, the next request fails
  // with an error instead of ending this program.
  signal(SIGPIPE, SIG_IGN);
  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(libexec);
  // The Python package, in a peer, finds the programs by this variable.
  setenv("BULKHEAD_LIBEXEC_DIR", host_options.libexec_dir.c_str(), 0);
  const Result<std::unique_ptr<Host>> host = Host::Create(host_options);
  if (!host) return cli::Fail(host.error());
  cli::Say(fmt::format("measuring, {} rounds", options.rounds));
  std::cout << MachineLine("")
            << fmt::format("median of {} rounds (lowest to highest), {}\n",
                           options.rounds, conditions);
  nlohmann::ordered_json clips = nlohmann::ordered_json::array();
  for (const cli::demo::SampleClip& clip : {Clip480p(30), Clip1080p(30)}) {
    const Result<std::string> path = CachedClip(clip);
    if (!path) return cli::Fail(path.error());
    std::cout << fmt::format("\n{}p, {} frames, a keyframe every {}\n",
                             clip.height, clip.frames, clip.key_interval);
    auto decoders = measure(**host, *path, clip.frames);
    // Shows the figures now, since the next clip takes minutes.
    std::cout << std::flush;
    if (!decoders) return cli::Fail(decoders.error());
    clips.push_back(
        {{"height", clip.height}, {"decoders", *std::move(decoders)}});
  }
  return WriteFacts({{"machine", MachineFacts()},
                     {"rounds", options.rounds},
                     {"clips", clips}},
                    options);
}

}  // namespace bulkhead::benchmark
