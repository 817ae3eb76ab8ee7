// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bulkhead::tests {

// Ways for a process to end. Hang() waits until the process is killed, under
// the name by which tests/chaos/held.h finds it.
[[noreturn]] void Segfault();
[[noreturn]] void Hang();

// Returns the death that `lie` names, or null. A lie names a death if it is
// `step` followed by "death" (a segmentation fault), "abort", "exit_0",
// "exit_7" or "hang".
using Death = void (*)();
Death FindDeath(std::string_view lie, std::string_view step);

}  // namespace bulkhead::tests
