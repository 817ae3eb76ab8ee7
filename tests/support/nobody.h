// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace bulkhead::tests {

// The uid and gid of the ordinary user "nobody", as whom root runs some tests.
inline constexpr uid_t kNobody = 65534;

// Makes this process run as nobody, with `groups` as its only further groups.
// Returns false with errno if the process is not allowed to.
bool BecomeNobody(const std::vector<gid_t>& groups);

// Runs `body` as nobody in a child process. A failure in the child is a failure
// of the test.
void RunAsNobody(const std::vector<gid_t>& groups,
                 const std::function<void()>& body);

}  // namespace bulkhead::tests
