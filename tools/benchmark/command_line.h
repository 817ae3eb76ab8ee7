// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/benchmark/series.h"
#include "tools/benchmark/table.h"
#include "tools/cli/command_line.h"

namespace bulkhead::benchmark {

// The options that every benchmark has, and the parts of the output that all
// benchmarks share.
struct RunOptions {
  std::string json;  // The file to write JSON to; empty for none.
  // Another file to write JSON to, of which a part is never seen; empty for
  // none.
  std::string keep;
  std::string commit;  // The commit to name in the JSON; empty for none.
  int rounds = 7;
  // One round of the least that runs every part: for tests, not for figures.
  bool quick = false;
  // The load average before the run, which says whether the machine was busy.
  double load_before = 0;
};

// Adds --rounds and --json.
void AddRunOptions(cli::Command& program, RunOptions& options);

// Adds --keep, --commit and --quick too, for the benchmarks that use Publish().
// RoundsOf() then returns the number of rounds.
void AddFigureOptions(cli::Command& program, RunOptions& options);
inline int RoundsOf(const RunOptions& options) {
  return options.quick ? 1 : options.rounds;
}

// Adds --libexec.
void AddLibexecOption(cli::Command& program, std::string& libexec);

// Parses the arguments. Returns an exit status if the program should end now
// (after --help or an error), otherwise nullopt.
std::optional<int> ParseOrExit(cli::Command& program, int argc, char** argv);

// Returns "machine: ...", followed by `extra`, other facts that affect the
// figures.
std::string MachineLine(const std::string& extra);
nlohmann::ordered_json MachineFacts();
nlohmann::ordered_json FactsOf(std::span<const Series> series);

// Prints the machine and the tables, and writes the files of --json and --keep;
// the latter not after a quick run, whose figures mean nothing. `benchmark` is
// the option of tools/bench without its dashes. Returns the exit status.
int Publish(std::string_view benchmark, std::span<const Table> tables,
            const RunOptions& options);

// Writes the facts to the file of --json, if there is one. Returns the exit
// status.
int WriteFacts(const nlohmann::ordered_json& facts, const RunOptions& options);

}  // namespace bulkhead::benchmark
