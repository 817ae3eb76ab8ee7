// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/escape/table/installation.h"

namespace bulkhead::tests {

// Returns the text of the table's backend within the message of `status`.
std::string Said(const Status& status);

// Returns the outcome of an attempt in a session, in the notation of Expected.
std::string OutcomeOf(const Status& status);

// Returns the outcome of each attempt of AllAttempts() while the backend was
// loaded, in a host with the deed "all". Returns fewer outcomes and adds a
// failure if the backend did not report all of them.
std::vector<std::string> ZygoteOutcomes(const Installation& installation,
                                        Host& host);

}  // namespace bulkhead::tests
