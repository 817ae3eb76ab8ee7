// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.hpp"

namespace bulkhead::tests {

// The base of backends that decode nothing: their Open fails, with the sentence
// that says to the test what the backend found.
struct RefusingBackend {
  struct Decoder {
    static bulkhead_result Send(const bulkhead_packet*) {
      return BULKHEAD_FAILED;
    }
    static bulkhead_result Receive(bulkhead_frame*) { return BULKHEAD_FAILED; }
    void Flush() {}
  };
  static constexpr const char* kVersion = "0.1.0";
};

}  // namespace bulkhead::tests
