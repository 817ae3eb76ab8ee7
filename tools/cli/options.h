// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bulkhead::cli {

// What every subcommand takes.
struct GlobalOptions {
  std::vector<std::string> plugin_path;
  std::string sandbox_floor;
  std::string libexec;
  std::optional<uint64_t> max_frame_pixels;
  std::optional<uint64_t> max_session_bytes;
  std::vector<std::string> limits;  // NAME=N
  bool quiet = false;
};

// One run of the program: the options, and the subcommand that was chosen,
// which returns the exit status.
struct Invocation {
  GlobalOptions global;
  std::function<int()> run;
};

// `global` must outlive the parsing.
void AddGlobalOptions(CLI::App& app, GlobalOptions& global);

// Sets what "streams=N", "index-frames=N" and so on say; kInvalidArgument names
// those that there are.
Status SetLimit(const std::string& words, HostOptions& options);

// Relative directories are made absolute: bulkheadd may run elsewhere.
HostOptions HostOptionsFrom(const GlobalOptions& global);

}  // namespace bulkhead::cli
