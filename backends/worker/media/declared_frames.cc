// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/declared_frames.h"

#include <span>

#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {
namespace {

constexpr uint32_t kUnknown = UINT32_MAX;

uint32_t Big(std::span<const uint8_t> bytes) {
  uint32_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

DeclaredFrames OfIvf(FileWindow& file) {
  constexpr int64_t kLengthAt = 24;
  const auto bytes = file.At(kLengthAt, 4);
  if (bytes.size() < 4) return {};
  const uint32_t length = bytes[0] | uint32_t{bytes[1]} << 8 |
                          uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
  if (length == kUnknown) return {};
  return {.frames = length, .may_be_time = true};
}

DeclaredFrames OfApng(FileWindow& file) {
  constexpr int kMostChunks = 256;
  constexpr int64_t kSignature = 8;
  constexpr int64_t kAround = 12;  // the size, the name and the checksum
  int64_t at = kSignature;
  for (int chunk = 0; chunk < kMostChunks; ++chunk) {
    const auto bytes = file.At(at, 12);
    if (bytes.size() < 12) return {};
    const std::string_view kind(reinterpret_cast<const char*>(&bytes[4]), 4);
    if (kind == "acTL") {
      const uint32_t frames = Big(bytes.subspan(8, 4));
      return {.frames = frames < kUnknown ? frames : 0};
    }
    // The number comes before the first picture.
    if (kind == "IDAT" || kind == "fcTL") return {};
    at += kAround + int64_t{Big(bytes.first(4))};
  }
  return {};
}

}  // namespace

DeclaredFrames ReadDeclaredFrames(std::string_view container, MediaBytes bytes,
                                  int64_t size) {
  FileWindow file(bytes, size);
  if (container == "ivf") return OfIvf(file);
  if (container == "apng") return OfApng(file);
  return {};
}

}  // namespace bulkhead::worker
