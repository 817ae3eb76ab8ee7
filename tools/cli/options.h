// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::cli {

class Command;

// The options that every subcommand accepts.
struct GlobalOptions {
  std::vector<std::string> plugin_path;
  std::string sandbox_floor;
  bool require_memory_cgroup = false;
  std::string libexec;
  std::optional<uint64_t> max_frame_pixels;
  std::optional<uint64_t> max_session_bytes;
  std::vector<std::string> limits;  // Each is "NAME=N", already checked.
  std::string allow;                // A preset: "all" or "web"; empty: all.
  // Replace the list of the preset. Each is "A,B,...", already checked. Empty:
  // the option is not given.
  std::vector<std::string> allow_containers;
  std::vector<std::string> allow_codecs;
  bool quiet = false;
};

// One run of the program: the global options, and the chosen subcommand as a
// function that runs it and returns the exit status. `run` is empty if the user
// named no subcommand.
struct Invocation {
  GlobalOptions global;
  std::function<int()> run;
};

// Adds a subcommand with a line and a page of help. `run` does the work and
// returns the exit status; it is called after all arguments were parsed.
Command& AddSubcommand(Command& program, Invocation& invocation,
                       const std::string& name, const std::string& purpose,
                       const std::string& examples,
                       std::function<int(const GlobalOptions&)> run);

// Adds the global options to `program`. Parsing writes to `global`, which must
// outlive `program`.
void AddGlobalOptions(Command& program, GlobalOptions& global);

// Sets the limit or deadline that `words` names, such as "streams=64" or
// "frame-ms=500". Returns kInvalidArgument, with a list of all limits, for an
// unknown name, a number that is 0 or malformed, or a number beyond the range.
Status SetLimit(const std::string& words, HostOptions& options);

// Returns the options for a Host. Relative directories become absolute, because
// bulkheadd may run in another working directory.
HostOptions HostOptionsFrom(const GlobalOptions& global);

}  // namespace bulkhead::cli
