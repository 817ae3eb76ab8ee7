// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/benchmark/series.h"
#include "tools/benchmark/table.h"
#include "tools/cli/command_line.h"

namespace bulkhead::benchmark {

// The values of the options that benchmarks share.
struct RunOptions {
  std::string json;  // The file to write JSON to; empty for none.
  // Another file to write JSON to, which is replaced as a whole (by a rename)
  // when the run is complete; empty for none.
  std::string keep;
  std::string commit;  // The commit to name in the JSON; empty for none.
  int rounds = 7;
  // Run one round with the smallest inputs, so that a test runs every part. The
  // figures mean nothing.
  bool quick = false;
  // The load average before the run, which says whether the machine was busy.
  double load_before = 0;
};

// Adds --rounds and --json, and stores the load average of this moment.
void AddRunOptions(cli::Command& program, RunOptions& options);

// Adds --keep, --commit and --quick, for benchmarks that use Publish().
void AddFigureOptions(cli::Command& program, RunOptions& options);

// Returns the number of rounds to measure, which is 1 with --quick.
inline int RoundsOf(const RunOptions& options) {
  return options.quick ? 1 : options.rounds;
}

// Adds --libexec.
void AddLibexecOption(cli::Command& program, std::string& libexec);

// Parses the arguments. Returns an exit status if the program should end now
// (after --help or an error), otherwise nullopt.
std::optional<int> ParseOrExit(cli::Command& program, int argc, char** argv);

// Returns the line "machine: ..." with the processor. It ends with `extra`, a
// text with other facts that affect the figures.
std::string MachineLine(const std::string& extra);

// Return the processor, and an array of the series, as JSON for --json.
nlohmann::ordered_json MachineFacts();
nlohmann::ordered_json FactsOf(std::span<const Series> series);

// Prints the machine and the tables, and writes the files of --json and --keep.
// Ignores --keep after a run with --quick, whose figures mean nothing.
// `benchmark` is tools/bench's option without dashes. Returns the exit status.
int Publish(std::string_view benchmark, std::span<const Table> tables,
            const RunOptions& options);

// Writes the facts to the file of --json; does nothing without that option.
// Returns the exit status.
int WriteFacts(const nlohmann::ordered_json& facts, const RunOptions& options);

}  // namespace bulkhead::benchmark
