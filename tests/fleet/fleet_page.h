// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/docs/workplace.h"

namespace bulkhead::tests {

// Returns the first of `programs` that is not installed, or an empty string.
std::string MissingOf(const std::vector<std::string>& programs);

// Runs every console block of the page that the variable BULKHEAD_TEST_PAGE
// names, and expects what the page shows. Commands whose first word is
// `left_out` are not run.
void RunPage(const Workplace& workplace, const std::string& left_out = "");

// Expects that `out` holds what one run of the batch of the page leaves.
void ExpectWholeBatch(const Workplace& workplace);

}  // namespace bulkhead::tests
