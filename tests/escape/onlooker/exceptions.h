// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Returns why a value of a Snapshot, given by its name, may differ between two
// sessions, or null if it must not. Either it differs between any two sessions,
// or no filter of a session can hide it. The README of core/supervisor/sandbox
// lists the latter ("What others see of a session").
const char* ReasonToDiffer(const std::string& name);

}  // namespace bulkhead::tests
