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
// loaded. `host` is one with the deed "all"; it made the harmless attempts. A
// zygote of its own makes each other attempt. Returns fewer outcomes and adds a
// failure if the backend did not report all of them.
std::vector<std::string> ZygoteOutcomes(const Installation& installation,
                                        Host& host);

// Returns the outcome of one attempt in a zygote of its own. `name` is
// the attempt's, after '@' if a second thread makes it.
std::string OutcomeInZygote(const Installation& installation,
                            const std::string& name);

}  // namespace bulkhead::tests
