// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/event.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bulkhead::cli::operators {

// The version of the format that FactsOf() returns. It rises when a member is
// removed or changes its meaning or type, but not when a member is added.
inline constexpr int kEventFormatVersion = 1;

// Returns an event as `bulkhead events --json` prints it. events.schema.json,
// beside this file and installed with the program, describes every member.
nlohmann::ordered_json FactsOf(const Event& event);

// Returns the time of an event in UTC, in the format of crash records:
// "2026-07-01T12:00:00.123Z".
std::string TimeText(const Event& event);

}  // namespace bulkhead::cli::operators
