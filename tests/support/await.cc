// SPDX-License-Identifier: Apache-2.0
#include "tests/support/await.h"

#include <poll.h>

namespace bulkhead::tests {

bool Await(const std::function<bool()>& holds,
           std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  // bound: the pause between two looks.
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 20);
  }
  return true;
}

}  // namespace bulkhead::tests
