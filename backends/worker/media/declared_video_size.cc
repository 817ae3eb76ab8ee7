// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/declared_video_size.h"

#include <algorithm>
#include <span>

#include "backends/worker/media/frame_walk.h"

namespace bulkhead::worker {
namespace {

// Larger numbers stand for "unknown".
constexpr uint64_t kMostBytes = uint64_t{1} << 56;

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t Big(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

int64_t OfRealMedia(FileWindow& file) {
  constexpr int kMostChunks = 256;
  constexpr size_t kHeader = 8;
  constexpr int64_t kDataHeader = 18;
  if (Text(file.At(0, 4)) != ".RMF") return 0;
  int64_t at = 0;
  for (int chunk = 0; chunk < kMostChunks; ++chunk) {
    const auto bytes = file.At(at, kHeader);
    if (bytes.size() < kHeader) return 0;
    const auto size = static_cast<int64_t>(Big(bytes.subspan(4, 4)));
    if (Text(bytes.first(4)) == "DATA") {
      // A program that cannot seek back writes the size of the header alone.
      const bool is_known = size > kDataHeader && size < INT32_MAX;
      return is_known ? at + size - kDataHeader : 0;
    }
    if (size < int64_t{kHeader}) return 0;
    at += size;
  }
  return 0;
}

int64_t OfMxf(FileWindow& file) {
  constexpr std::string_view kPartition(
      "\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02", 14);
  constexpr size_t kKey = 16;
  constexpr size_t kFooter = 24;  // in the header's partition pack
  const auto bytes = file.At(0, 64);
  if (bytes.size() < 64 || !Text(bytes).starts_with(kPartition)) return 0;
  // The length is in one byte, or in as many as the first one tells.
  const size_t more = bytes[kKey] & 0x80 ? bytes[kKey] & 0x0f : 0;
  const size_t at = kKey + 1 + more + kFooter;
  if (at + 8 > bytes.size()) return 0;
  const uint64_t footer = Big(bytes.subspan(at, 8));
  return footer < kMostBytes ? static_cast<int64_t>(footer) : 0;
}

// Returns the offset behind the blocks from `at` on, the last of which is
// empty. Beyond the end it is that of the block that is cut off.
int64_t BehindBlocks(FileWindow& file, int64_t at, int* left) {
  while (--*left > 0) {
    const auto size = file.At(at, 1);
    if (size.empty()) return at + 1;
    at += 1 + size[0];
    if (size[0] == 0) return at;
  }
  return 0;
}

int64_t OfGif(FileWindow& file) {
  constexpr int kMostBlocks = 1 << 22;
  constexpr int64_t kHeader = 13;
  constexpr int64_t kPicture = 10;
  const auto table = [](uint8_t flags) {
    return flags & 0x80 ? int64_t{3} << ((flags & 7) + 1) : 0;
  };
  const auto header = file.At(0, kHeader);
  if (header.size() < size_t{kHeader} || !Text(header).starts_with("GIF8")) {
    return 0;
  }
  int64_t at = kHeader + table(header[10]);
  for (int left = kMostBlocks; left > 0 && at > 0 && at < file.size();) {
    const auto bytes = file.At(at, size_t{kPicture});
    if (bytes.empty()) return 0;
    if (bytes[0] == ',') {
      if (bytes.size() < size_t{kPicture}) return at + kPicture;
      // The size of the codes comes first.
      at = BehindBlocks(file, at + kPicture + table(bytes[9]) + 1, &left);
      if (at > file.size()) return at;
    } else if (bytes[0] == '!') {
      at = BehindBlocks(file, at + 2, &left);
    } else {
      return 0;
    }
  }
  return 0;
}

}  // namespace

int64_t DeclaredVideoSize(std::string_view container, FileWindow& file) {
  if (container == "rm") return OfRealMedia(file);
  if (container == "mxf") return OfMxf(file);
  if (container == "gif") return OfGif(file);
  const auto layout = ReadFrameLayout(container, file);
  return layout ? SizeWithLastFrame(*layout, file) : 0;
}

}  // namespace bulkhead::worker
