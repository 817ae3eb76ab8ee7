// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

#include "ipc/error.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker {

// Returns the result of `step`, or kResourceExhausted if the step ran out of
// memory. The memory limit (RLIMIT_DATA) makes allocations fail; the session
// survives that, and the host learns which limit to raise.
template <typename Step>
auto WithinMemory(const Step& step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return ipc::Fail(
        ipc::Code::kResourceExhausted,
        "there is no more memory; raise " + ipc::LimitName("worker_bytes"));
  }
}

}  // namespace bulkhead::worker
