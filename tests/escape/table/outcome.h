// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/escape/table/installation.h"

namespace bulkhead::tests {

// What the backend of the table said, without the words around it.
std::string Said(const Status& status);

// What came of an attempt in a session, in the words of Expected.
std::string OutcomeOf(const Status& status);

// What came of each attempt of AllAttempts() while the backend was loaded, in a
// host whose deed was "all". Fewer, and a failure was added: it did not say.
std::vector<std::string> ZygoteOutcomes(const Installation& installation,
                                        Host& host);

}  // namespace bulkhead::tests
