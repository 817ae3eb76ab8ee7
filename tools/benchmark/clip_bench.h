// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/benchmark/command_line.h"

namespace bulkhead::benchmark {

// A function that measures the decoders on one clip, prints their figures, and
// returns them for --json. `frames` is the number of frames of the clip.
using MeasureClip = std::function<Result<nlohmann::ordered_json>(
    Host& host, const std::string& clip, uint64_t frames)>;

// Runs a benchmark that compares Bulkhead with other decoder libraries (peer.h)
// on a 480p and a 1080p clip. Prints the machine and a headline that ends with
// `conditions`, such as "20 random places a round". Calls `measure` for each
// clip, and writes the file of --json. `libexec` is the directory of --libexec.
// Returns the exit status.
int RunOnClips(const RunOptions& options, const std::string& libexec,
               const std::string& conditions, const MeasureClip& measure);

}  // namespace bulkhead::benchmark
