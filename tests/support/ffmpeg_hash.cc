// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ffmpeg_hash.h"

extern "C" {
#include <libavutil/hash.h>
}

#include <cstdint>
#include <cstdlib>

namespace bulkhead::tests {

std::string FfmpegHash::Hex() const {
  AVHashContext* context = nullptr;
  if (av_hash_alloc(&context, "murmur3") < 0) std::abort();
  av_hash_init(context);
  av_hash_update(context, reinterpret_cast<const uint8_t*>(bytes_.data()),
                 bytes_.size());
  uint8_t text[2 * AV_HASH_MAX_SIZE + 1];
  av_hash_final_hex(context, text, sizeof(text));
  av_hash_freep(&context);
  return reinterpret_cast<const char*>(text);
}

}  // namespace bulkhead::tests
