// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// A result of the C ABI with the sentence for last_error.
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

// What libavcodec's error number means to the caller of a backend. Damage is
// the ordinary case: after it FFmpeg goes on with the next packet.
bulkhead_result ResultOf(int av_error);

// The text that FFmpeg prints for the number.
std::string TextOf(int av_error);

}  // namespace bulkhead::libav_codec
