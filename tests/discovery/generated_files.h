// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/discovery/random.h"

namespace bulkhead::tests {

// Returns the text of a random entry_points.txt. Its lines are correct,
// irregular in every known way, or damaged; some files are bytes without
// structure.
std::string GeneratedFile(Random& random);

}  // namespace bulkhead::tests
