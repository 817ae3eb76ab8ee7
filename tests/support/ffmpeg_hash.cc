// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ffmpeg_hash.h"

extern "C" {
#include <libavutil/hash.h>
}

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace bulkhead::tests {
namespace {

void Update(AVHashContext* context, std::span<const std::byte> bytes) {
  av_hash_update(context, reinterpret_cast<const uint8_t*>(bytes.data()),
                 bytes.size());
}

}  // namespace

void FfmpegHash::Free::operator()(AVHashContext* context) const {
  av_hash_freep(&context);
}

FfmpegHash::FfmpegHash() {
  AVHashContext* context = nullptr;
  if (av_hash_alloc(&context, "murmur3") < 0) std::abort();
  context_.reset(context);
  av_hash_init(context);
}

void FfmpegHash::Add(std::span<const std::byte> bytes) {
  if (begun_bytes_ > 0) {
    const size_t added = std::min(kBlock - begun_bytes_, bytes.size());
    std::copy_n(bytes.begin(), added, begun_.begin() + begun_bytes_);
    begun_bytes_ += added;
    bytes = bytes.subspan(added);
    if (begun_bytes_ < kBlock) return;
    Update(context_.get(), begun_);
  }
  // The whole blocks are hashed where they lie: pictures are large, and copying
  // them first cost as much as all else in the tests that compare them.
  begun_bytes_ = bytes.size() % kBlock;
  Update(context_.get(), bytes.first(bytes.size() - begun_bytes_));
  const auto rest = bytes.last(begun_bytes_);
  std::copy(rest.begin(), rest.end(), begun_.begin());
}

std::string FfmpegHash::Hex() {
  Update(context_.get(), std::span(begun_).first(begun_bytes_));
  uint8_t text[2 * AV_HASH_MAX_SIZE + 1];
  av_hash_final_hex(context_.get(), text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

}  // namespace bulkhead::tests
