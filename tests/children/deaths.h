// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bulkhead::tests {

// Ways for a process to go, or to be held until it is killed: see
// tests/chaos/held.h.
[[noreturn]] void Segfault();
[[noreturn]] void Hang();

// The one that the lie STEP names: "death" (a segmentation fault), "abort",
// "exit_0", "exit_7" or "hang" behind `step`. Null: the lie is another.
using Death = void (*)();
Death FindDeath(std::string_view lie, std::string_view step);

}  // namespace bulkhead::tests
