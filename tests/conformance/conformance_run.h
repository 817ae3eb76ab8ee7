// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace bulkhead::tests {

// A limit of hangs: where starting a process is slow, the leak checks of a
// sound backend take five minutes.
inline constexpr std::chrono::minutes kLimitOfConformance{10};

// Runs `bulkhead conformance` with these arguments. All runs of a test program
// share one set of clips.
ProgramResult RunConformance(const std::vector<std::string>& arguments);

// Returns the report that a run printed for --json. Fails the test, and returns
// an empty object, if it printed none.
nlohmann::json ReportOf(const ProgramResult& result);

}  // namespace bulkhead::tests
