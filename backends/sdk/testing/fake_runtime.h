// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::sdk {

// The runtime's services over plain memory, for tests of backends.
//
//     FakeRuntime runtime;
//     backend->open(&parameters, runtime.services(), &decoder);
//     EXPECT_EQ(runtime.outstanding(), 0u);
//
// Buffers start out as noise, so that a decoder that counts on zeroes shows,
// and are poisoned when the last reference goes. Thread-safe.
class FakeRuntime {
 public:
  FakeRuntime();
  ~FakeRuntime();
  FakeRuntime(const FakeRuntime&) = delete;
  FakeRuntime& operator=(const FakeRuntime&) = delete;

  const bulkhead_runtime* services() const { return &services_; }

  // From now on acquire_buffer answers with this; OK serves again.
  void RefuseBuffers(bulkhead_result answer);

  // Buffers on which somebody still holds a reference.
  size_t outstanding() const;
  uint64_t acquired() const;
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

}  // namespace bulkhead::sdk
