// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

namespace bulkhead::supervisor {

// An event loop for a test of one thread. kj's destructors may throw and a test
// fixture's may not, so a fixture cannot hold the three members itself.
struct TestLoop {
  kj::UnixEventPort port;
  kj::EventLoop loop{port};
  kj::WaitScope scope{loop};
  ~TestLoop() noexcept {}
};

}  // namespace bulkhead::supervisor
