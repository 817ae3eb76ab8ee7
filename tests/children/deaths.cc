// SPDX-License-Identifier: Apache-2.0
#include "tests/children/deaths.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "tests/chaos/hold.h"

namespace bulkhead::tests {
namespace {

constexpr std::pair<std::string_view, Death> kDeaths[] = {
    {"death", Segfault},
    {"abort", [] { std::abort(); }},
    {"exit_0", [] { ::_exit(0); }},
    {"exit_7", [] { ::_exit(7); }},
    {"hang", Hold},
};

}  // namespace

void Segfault() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  ::_exit(1);
}

Death FindDeath(std::string_view lie, std::string_view step) {
  if (!lie.starts_with(step)) return nullptr;
  lie.remove_prefix(step.size());
  for (const auto& [name, death] : kDeaths) {
    if (lie == name) return death;
  }
  return nullptr;
}

}  // namespace bulkhead::tests
