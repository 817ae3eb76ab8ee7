// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace bulkhead::cli {

// These functions return reports of the library as JSON for `--json`. Keys have
// the names of the C++ members; an unknown value is null.
nlohmann::ordered_json FactsOf(const BackendReport& report);
nlohmann::ordered_json FactsOf(const EntryPoints& entry_points);
nlohmann::ordered_json FactsOf(const Diagnostics& diagnostics);
nlohmann::ordered_json FactsOf(const std::vector<SearchedPlace>& places);
nlohmann::ordered_json FactsOf(const SandboxReport& report);
nlohmann::ordered_json FactsOf(const ShadowReport& report);
nlohmann::ordered_json FactsOf(const Status& failure);

// Returns the pid, or null for 0, which says that there is no process: kill 0
// signals the process group of whoever types it.
nlohmann::ordered_json PidFact(int pid);

// Prints `facts` to stdout, indented, and returns the exit status: 0 also when
// the reader of stdout has gone away. Bytes that are not UTF-8, which a file or
// a backend may have put into a string, are replaced by U+FFFD.
int PrintFacts(const nlohmann::ordered_json& facts);

}  // namespace bulkhead::cli
