// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/discovery/random.h"

namespace bulkhead::tests {

// The text of an entry_points.txt: good lines, irregular ones of every kind
// that is known, either of them damaged, or bytes that have no structure.
std::string GeneratedFile(Random& random);

}  // namespace bulkhead::tests
