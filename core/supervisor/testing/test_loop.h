// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

namespace bulkhead::supervisor {

// An event loop for a test with one thread. Test fixtures hold this struct
// instead of its three members: destructors of kj's classes may throw, and the
// destructor of a fixture must not.
struct TestLoop {
  kj::UnixEventPort port;
  kj::EventLoop loop{port};
  kj::WaitScope scope{loop};
  ~TestLoop() noexcept {}
};

}  // namespace bulkhead::supervisor
