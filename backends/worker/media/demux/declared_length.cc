// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/declared_length.h"

#include <array>
#include <bit>
#include <optional>
#include <span>

extern "C" {
#include <libavutil/intreadwrite.h>
}

#include "backends/worker/media/demux/container_names.h"

namespace bulkhead::worker::demux {
namespace {

// The most chunks that are read. Real files have few at the top level and few
// before the samples.
constexpr int kMostChunks = 1024;
// The least size that means "unknown". Programs that cannot seek back write the
// largest signed or unsigned number, less the bytes before the chunk.
constexpr int64_t kLeastUnknown = 0x7fff0000;

struct Chunk {
  std::array<uint8_t, 8> head;  // the name and the size
  bool Is(std::string_view name) const {
    return std::string_view(reinterpret_cast<const char*>(head.data()), 4) ==
           name;
  }
  int64_t size() const { return AV_RL32(head.data() + 4); }
};

std::optional<Chunk> ChunkAt(MediaBytes bytes, int64_t at) {
  Chunk chunk;
  const auto wanted = static_cast<ssize_t>(chunk.head.size());
  if (bytes.ReadAt(at, chunk.head) != wanted) return std::nullopt;
  return chunk;
}

DeclaredLength OfAvi(MediaBytes bytes, int64_t size) {
  DeclaredLength length;
  for (int i = 0; i < kMostChunks && length.bytes < size; ++i) {
    const auto chunk = ChunkAt(bytes, length.bytes);
    if (!chunk || !chunk->Is("RIFF") || chunk->size() < 4 ||
        chunk->size() >= kLeastUnknown) {
      break;
    }
    length.bytes += 8 + chunk->size();
  }
  return length;
}

DeclaredLength OfWav(MediaBytes bytes) {
  constexpr int64_t kFirstChunk = 12;
  int64_t large_size = 0;  // RF64: the bytes of samples, which exceed 4 GiB
  int64_t at = kFirstChunk;
  for (int i = 0; i < kMostChunks; ++i) {
    const auto chunk = ChunkAt(bytes, at);
    if (!chunk) break;
    at += 8;
    if (chunk->Is("data")) {
      // RF64 has this number in place of the size, which is in ds64.
      const bool is_large = chunk->size() == UINT32_MAX;
      const int64_t samples = is_large ? large_size : chunk->size();
      if (samples <= 0 || (!is_large && samples >= kLeastUnknown) ||
          samples > INT64_MAX - at) {
        break;
      }
      return {.bytes = at + samples, .sample_bytes = samples};
    }
    // ds64 begins with the size of the file and the size of the samples, in 8
    // bytes each.
    std::array<uint8_t, 16> sizes;
    if (chunk->Is("ds64") && bytes.ReadAt(at, sizes) == ssize_t{sizes.size()}) {
      large_size = static_cast<int64_t>(AV_RL64(sizes.data() + 8));
    }
    at += chunk->size() + chunk->size() % 2;
  }
  return {};
}

// Reads a number of EBML and moves `at` after it. The leading zeroes of the
// first byte state the length (RFC 8794, section 4). Returns -1 if there is no
// number, and for a number with all bits set ("unknown"). `keeps_marker` says
// whether the 1 bit after the leading zeroes is part of the number.
int64_t EbmlNumber(MediaBytes bytes, int64_t& at, bool keeps_marker) {
  std::array<uint8_t, 8> number{};
  if (bytes.ReadAt(at, std::span(number).first(1)) != 1) return -1;
  const int length = std::countl_zero(number[0]) + 1;
  if (length > 8) return -1;
  const auto all = std::span(number).first(static_cast<size_t>(length));
  if (bytes.ReadAt(at, all) != length) return -1;
  at += length;
  const uint64_t with_marker = AV_RB64(number.data()) >> (8 * (8 - length));
  const uint64_t marker = uint64_t{1} << (7 * length);
  if (keeps_marker) return static_cast<int64_t>(with_marker);
  const uint64_t value = with_marker - marker;
  return value == marker - 1 ? -1 : static_cast<int64_t>(value);
}

// Looks for the segment among the first elements; EBML's own header is first.
DeclaredLength OfMatroska(MediaBytes bytes) {
  constexpr int64_t kSegment = 0x18538067;
  int64_t at = 0;
  for (int element = 0; element < 4; ++element) {
    const int64_t id = EbmlNumber(bytes, at, /*keeps_marker=*/true);
    const int64_t size =
        id < 0 ? -1 : EbmlNumber(bytes, at, /*keeps_marker=*/false);
    if (size < 0 || size > INT64_MAX - at) break;
    at += size;
    if (id == kSegment) return {.bytes = at};
  }
  return {};
}

}  // namespace

DeclaredLength ReadDeclaredLength(std::string_view container, MediaBytes bytes,
                                  int64_t size) {
  if (container == kMatroska) return OfMatroska(bytes);
  if (container == "avi") return OfAvi(bytes, size);
  if (container == "wav") return OfWav(bytes);
  return {};
}

}  // namespace bulkhead::worker::demux
