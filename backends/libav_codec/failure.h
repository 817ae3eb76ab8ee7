// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// A failed result of the C ABI, with the sentence that last_error returns.
struct Failure {
  bulkhead_result result;
  std::string sentence;
};

template <typename T>
using Expected = tl::expected<T, Failure>;

inline tl::unexpected<Failure> Fail(bulkhead_result result,
                                    std::string sentence) {
  return tl::unexpected<Failure>(Failure{result, std::move(sentence)});
}

// Returns the result of the C ABI for an error number of libavcodec. Most
// numbers mean damaged input, after which FFmpeg continues with the next
// packet.
bulkhead_result ResultOf(int av_error);

// Returns the text in quotation marks, for a sentence.
inline std::string Quoted(const char* text) {
  return std::string("\"") + text + "\"";
}

// Returns the text that FFmpeg prints for an error number, or a better text
// where FFmpeg's would mislead people.
std::string TextOf(int av_error);

}  // namespace bulkhead::libav_codec
