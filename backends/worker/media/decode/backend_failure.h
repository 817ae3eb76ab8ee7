// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker::decode {

// Functions that turn a backend's own words about a failure into errors. The
// backend is not trusted: a sentence is read only as far as there is memory.

// The limit on pixels of a picture, and the size of the stream's pictures
// according to the container. Error messages compare the two.
struct PixelLimit {
  uint64_t pixels = 0;  // 0: no limit
  uint64_t width = 0;   // 0: unknown
  uint64_t height = 0;
};

// Returns the backend's sentence about its last error (last_error). `decoder`
// is null after a failed open.
std::string SentenceOf(const bulkhead_backend& backend,
                       bulkhead_decoder* decoder);

// Returns such a sentence as an error message appends it: `; the backend says:
// "..."`, or nothing for an empty sentence.
std::string Quoted(const std::string& sentence);

// Returns the error for a `call` of the ABI that returned `result`, which is no
// success. A result that is no failure either is a breach of the ABI. The codes
// are listed at Decoder.
ipc::Error FailureOf(const bulkhead_backend& backend, bulkhead_decoder* decoder,
                     const PixelLimit& limit, const char* call,
                     bulkhead_result result);

}  // namespace bulkhead::worker::decode
