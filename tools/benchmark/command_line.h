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

// What every benchmark here is told and says.
struct RunOptions {
  std::string json;  // empty: no file
  int rounds = 7;
};

// --rounds and --json.
void AddRunOptions(CLI::App& app, RunOptions& options);

// The status to exit with, if there is nothing to measure.
std::optional<int> ParseOrExit(CLI::App& app, int argc, char** argv);

// "machine: ..." and, behind it, what else matters for the figures.
std::string MachineLine(const std::string& extra);
nlohmann::ordered_json MachineFacts();
nlohmann::ordered_json FactsOf(std::span<const Series> series);

// To the file that was asked for, if one was; the status to exit with.
int WriteFacts(const nlohmann::ordered_json& facts, const RunOptions& options);

}  // namespace bulkhead::benchmark
