// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace bulkhead::cli {

// What the library reports, as JSON. Names are those of the C++ members; what
// is not known is null.
nlohmann::ordered_json FactsOf(const BackendReport& report);
nlohmann::ordered_json FactsOf(const EntryPoints& entry_points);
nlohmann::ordered_json FactsOf(const Diagnostics& diagnostics);
nlohmann::ordered_json FactsOf(const std::vector<SearchedPlace>& places);
nlohmann::ordered_json FactsOf(const SandboxReport& report);

// Prints to stdout and returns the exit status. Strings that are not UTF-8,
// which a file or backend may have made, are repaired.
int PrintFacts(const nlohmann::ordered_json& facts);

}  // namespace bulkhead::cli
