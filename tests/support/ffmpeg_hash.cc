// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ffmpeg_hash.h"

extern "C" {
#include <libavutil/hash.h>
}

#include <cstdint>
#include <cstdlib>

namespace bulkhead::tests {

FfmpegHash::FfmpegHash() {
  if (av_hash_alloc(&context_, "murmur3") < 0) std::abort();
  av_hash_init(context_);
}

FfmpegHash::~FfmpegHash() { av_hash_freep(&context_); }

void FfmpegHash::Add(std::span<const std::byte> bytes) {
  av_hash_update(context_, reinterpret_cast<const uint8_t*>(bytes.data()),
                 bytes.size());
}

std::string FfmpegHash::Hex() {
  uint8_t text[2 * AV_HASH_MAX_SIZE + 1];
  av_hash_final_hex(context_, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

}  // namespace bulkhead::tests
