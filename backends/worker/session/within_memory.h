// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "ipc/error.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker::session {

// Returns the result of `step`, or kResourceExhausted if `step` throws
// std::bad_alloc: at the worker's memory limit (RLIMIT_DATA) allocations fail.
// So the session survives, and the host learns which limit to raise.
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

// Throws std::bad_alloc if not even 1 MiB of memory is left. Call it when a
// decoder has failed for another reason, since some decoders report "invalid
// data" when an allocation fails.
inline void RequireMemory() {
  constexpr size_t kPieceOfADecoder = size_t{1} << 20;
  // volatile, since a compiler may leave out an allocation that nobody uses.
  void* volatile piece = std::malloc(kPieceOfADecoder);
  if (piece == nullptr) throw std::bad_alloc();
  std::free(piece);
}

}  // namespace bulkhead::worker::session
