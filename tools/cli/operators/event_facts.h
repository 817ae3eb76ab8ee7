// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/event.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bulkhead::cli {

// The version of the format that FactsOf() returns. A new member does not
// change it; a member that goes, or gets another meaning or type, does.
inline constexpr int kEventFormatVersion = 1;

// Returns an event as `events --json` prints it. events.schema.json beside this
// file describes every member, and is installed with the program.
nlohmann::ordered_json FactsOf(const Event& event);

// Returns the time of an event in UTC, as crash records have it:
// "2026-07-01T12:00:00.123Z".
std::string TimeText(const Event& event);

}  // namespace bulkhead::cli
