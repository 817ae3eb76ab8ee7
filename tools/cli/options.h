// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/command_line.h"

namespace bulkhead::cli {

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
  // The containers and codecs that are allowed instead of the preset's. Each
  // element is "A,B,...", already checked. Empty if the option is not given.
  std::vector<std::string> allow_containers;
  std::vector<std::string> allow_codecs;
  bool quiet = false;
};

// The result of parsing the command line: the global options, and a function
// that runs the chosen subcommand and returns the exit status. `run` is empty
// if the user named no subcommand.
struct Invocation {
  GlobalOptions global;
  std::function<int()> run;
};

// A subcommand, and the options that parsing sets.
template <typename Options>
struct Subcommand {
  Command& command;
  Options& options;
};

// Adds a subcommand. `purpose` is its line in the list of subcommands, and
// `examples` is the text after its options in --help. `run` does the work and
// returns the exit status. It is called after all arguments were parsed. The
// options live as long as `program`.
template <typename Options>
Subcommand<Options> AddSubcommand(
    Command& program, Invocation& invocation, const std::string& name,
    const std::string& purpose, const std::string& examples,
    std::function<int(const GlobalOptions&, const Options&)> run) {
  const auto options = std::make_shared<Options>();
  Command& command = program.AddSubcommand(name, purpose);
  command.SetFooter(examples);
  // Parsing only stores the work. main() does it when all arguments are parsed.
  command.OnChosen([options, run = std::move(run), &invocation] {
    invocation.run = [options, run, &invocation] {
      return run(invocation.global, *options);
    };
  });
  return {command, *options};
}

// Adds the global options to `program`. Parsing writes to `global`, which must
// outlive `program`.
void AddGlobalOptions(Command& program, GlobalOptions& global);

// Sets the limit or deadline that `words` names, such as "streams=64" or
// "frame-ms=500". Returns kInvalidArgument, with a list of all limits, for an
// unknown name, and for a number that is 0, malformed or too large.
Status SetLimit(const std::string& words, HostOptions& options);

// Returns the options for a Host. Relative directories become absolute, because
// bulkheadd may run in another working directory.
HostOptions HostOptionsFrom(const GlobalOptions& global);

}  // namespace bulkhead::cli
