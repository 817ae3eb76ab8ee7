// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::fake {

// Implements the runtime's services with plain memory, for tests of backends.
//
//     FakeRuntime runtime;
//     backend->open(&parameters, runtime.services(), &decoder);
//     EXPECT_EQ(runtime.outstanding(), 0u);
//
// New buffers hold noise, so that tests notice a decoder that relies on zeroes.
// Buffers are overwritten when the last reference is released. Thread-safe.
class FakeRuntime {
 public:
  FakeRuntime();
  ~FakeRuntime();
  FakeRuntime(const FakeRuntime&) = delete;
  FakeRuntime& operator=(const FakeRuntime&) = delete;

  const bulkhead_runtime* services() const { return &services_; }

  // Makes each later acquire_buffer return `answer`; OK makes it lend buffers
  // again.
  void RefuseBuffers(bulkhead_result answer);

  // Returns the number of buffers that still have a reference.
  size_t outstanding() const;
  // Returns the number of buffers that acquire_buffer has lent so far.
  uint64_t acquired() const;
  // Returns the request of the latest acquire_buffer, even if it was refused.
  bulkhead_buffer_request last_request() const;

 private:
  struct Buffer {
    uint8_t* memory;
    size_t bytes;
    int references;
  };

  bulkhead_result Acquire(const bulkhead_buffer_request& request,
                          bulkhead_buffer* buffer);
  void Reference(void* handle);
  void Release(void* handle);

  bulkhead_runtime services_;
  mutable std::mutex mutex_;
  std::map<void*, Buffer> buffers_;
  bulkhead_result answer_ = BULKHEAD_OK;
  uint64_t acquired_ = 0;
  bulkhead_buffer_request last_request_{};
};

}  // namespace bulkhead::fake
