// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/mp3_info.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "backends/worker/media/audio_framing.h"

namespace bulkhead::worker {
namespace {

constexpr size_t kTagHeader = 10;
// The fields behind the flags, if they are there.
constexpr uint32_t kHasFrames = 1;
constexpr uint32_t kHasBytes = 2;
constexpr uint32_t kHasPlaces = 4;
constexpr uint32_t kHasQuality = 8;
constexpr size_t kPlacesBytes = 100;
// The place of the two 12-bit numbers behind the name of the encoder.
constexpr size_t kPaddingOffset = 21;

// A cursor over the bytes of the frame. Reads zeros behind its end.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  void Skip(size_t count) { at_ += count; }
  uint32_t Number(size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i, ++at_) {
      value = value << 8 | (at_ < bytes_.size() ? bytes_[at_] : 0);
    }
    return value;
  }
  bool Has(std::string_view text) const {
    return at_ + text.size() <= bytes_.size() &&
           std::memcmp(bytes_.data() + at_, text.data(), text.size()) == 0;
  }

 private:
  const std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// Returns the length of an ID3v2 tag at the start of `bytes`, 0 without one.
int64_t TagBytes(std::span<const uint8_t> bytes) {
  if (bytes.size() < kTagHeader || std::memcmp(bytes.data(), "ID3", 3) != 0) {
    return 0;
  }
  int64_t length = 0;
  for (size_t i = 6; i < kTagHeader; ++i) {
    length = length << 7 | (bytes[i] & 0x7f);
  }
  const bool has_footer = (bytes[5] & 0x10) != 0;
  return length +
         static_cast<int64_t>(has_footer ? 2 * kTagHeader : kTagHeader);
}

}  // namespace

std::optional<Mp3Info> ReadMp3Info(MediaBytes file) {
  std::array<uint8_t, 2048> buffer{};
  const auto read = [&](int64_t offset) {
    const ssize_t got = file.ReadAt(offset, buffer);
    return std::span<const uint8_t>(buffer.data(),
                                    got < 0 ? 0 : static_cast<size_t>(got));
  };
  Mp3Info info;
  info.begin = TagBytes(read(0));
  std::span<const uint8_t> frame = read(info.begin);
  const size_t length = MpegAudioFrameBytes(frame);
  if (length == 0 || length > frame.size()) return std::nullopt;
  frame = frame.first(length);
  info.end = info.begin + static_cast<int64_t>(length);

  const bool mpeg1 = (frame[1] & 0x18) == 0x18;
  const bool mono = (frame[3] & 0xc0) == 0xc0;
  Cursor cursor(frame);
  cursor.Skip(4 + (mpeg1 ? (mono ? 17 : 32) : (mono ? 9 : 17)));
  if (!cursor.Has("Xing") && !cursor.Has("Info")) return std::nullopt;
  cursor.Skip(4);
  const uint32_t flags = cursor.Number(4);
  if ((flags & kHasFrames) == 0) return std::nullopt;
  info.frames = cursor.Number(4);
  if ((flags & kHasBytes) != 0) info.bytes = cursor.Number(4);
  if ((flags & kHasPlaces) != 0) cursor.Skip(kPlacesBytes);
  if ((flags & kHasQuality) != 0) cursor.Skip(4);
  for (const std::string_view encoder : {"LAME", "Lavf", "Lavc"}) {
    info.has_padding |= cursor.Has(encoder);
  }
  cursor.Skip(kPaddingOffset);
  const uint32_t padding = cursor.Number(3);
  if (info.has_padding) {
    info.start_padding = padding >> 12;
    info.end_padding = padding & 0xfff;
  }
  if (info.frames == 0) return std::nullopt;
  return info;
}

}  // namespace bulkhead::worker
