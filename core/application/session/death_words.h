// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/application/session/death_account.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Returns the error for the caller when a step is given up after a worker's
// death. `death` says how and where the worker died. The error adds:
// - why no other worker is tried, and which limits may be too low
// - where the crash record is; or, if something was blamed and records are
//   kept, why there is none
// `worker_bytes` is Limits::worker_bytes. `state_directory` has the crash
// records; it is empty if none are kept.
Status GivenUpError(const DeathAccount::GivenUp& given_up, std::string death,
                    const supervisor_link::ExitVerdict& verdict,
                    uint64_t worker_bytes, const std::string& state_directory);

}  // namespace bulkhead::session
