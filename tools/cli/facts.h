// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace bulkhead::cli {

// The functions FactsOf() return a report of the library as JSON, for `--json`.
// Keys have the names of the C++ members; an unknown value is null.
nlohmann::ordered_json FactsOf(const BackendReport& report);
nlohmann::ordered_json FactsOf(const EntryPoints& entry_points);
nlohmann::ordered_json FactsOf(const Diagnostics& diagnostics);
nlohmann::ordered_json FactsOf(const std::vector<SearchedPlace>& places);
nlohmann::ordered_json FactsOf(const SandboxReport& report);
nlohmann::ordered_json FactsOf(const ShadowReport& report);
nlohmann::ordered_json FactsOf(const Status& failure);

// Returns the pid, or null for 0, which means that there is no process. A
// script that passed a 0 to kill(1) would signal its own process group.
nlohmann::ordered_json PidFact(int pid);

// Prints `facts` to stdout, indented, and returns the exit status. A reader of
// stdout that has gone away is no failure. Bytes that are not UTF-8, which a
// file or a backend may have put into a string, are replaced by U+FFFD.
int PrintFacts(const nlohmann::ordered_json& facts);
// Prints the failure of one file as JSON to stdout, so that --json prints one
// object for each file.
void PrintFailure(const std::string& file, const Status& failure);
// Reports the failure of one file: to stderr, and with `json` also as
// PrintFailure() does. Returns the exit status.
int FailFile(const std::string& file, const Status& failure, bool json);

}  // namespace bulkhead::cli
