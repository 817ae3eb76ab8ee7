// SPDX-License-Identifier: Apache-2.0
#include "tests/children/deaths.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "tests/chaos/held_name.h"

namespace bulkhead::tests {
namespace {

constexpr std::pair<std::string_view, Death> kDeaths[] = {
    {"death", Segfault},
    {"abort", [] { std::abort(); }},
    {"exit_0", [] { ::_exit(0); }},
    {"exit_7", [] { ::_exit(7); }},
    {"hang", Hang},
};

}  // namespace

void Segfault() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  ::_exit(1);
}

void Hang() {
  ::prctl(PR_SET_NAME, kHeldName);
  for (;;) ::ppoll(nullptr, 0, nullptr, nullptr);
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
