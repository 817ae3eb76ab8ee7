// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bulkhead::tests {

// Ends the process.
[[noreturn]] void Segfault();

// Returns the death that `lie` names, or null. A lie names a death if it is
// `step` followed by "death" (a segmentation fault), "abort", "exit_0",
// "exit_7" or "hang".
using Death = void (*)();
Death FindDeath(std::string_view lie, std::string_view step);

}  // namespace bulkhead::tests
