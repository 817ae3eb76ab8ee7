// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// The options that every benchmark has, and the parts of the output that all
// benchmarks share.
struct RunOptions {
  std::string json;  // The file to write JSON to; empty for none.
  int rounds = 7;
};

// Adds --rounds and --json.
void AddRunOptions(CLI::App& app, RunOptions& options);

// Adds --libexec.
void AddLibexecOption(CLI::App& app, std::string& libexec);

// Parses the arguments. Returns an exit status if the program should end now
// (after --help or an error), otherwise nullopt.
std::optional<int> ParseOrExit(CLI::App& app, int argc, char** argv);

// Returns "machine: ...", followed by `extra`, other facts that affect the
// figures.
std::string MachineLine(const std::string& extra);
nlohmann::ordered_json MachineFacts();
nlohmann::ordered_json FactsOf(std::span<const Series> series);

// Writes the facts to the file of --json, if there is one. Returns the exit
// status.
int WriteFacts(const nlohmann::ordered_json& facts, const RunOptions& options);

}  // namespace bulkhead::benchmark
