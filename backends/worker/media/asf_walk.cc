// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/asf_walk.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace bulkhead::worker {
namespace {

// So many numbers must have followed each other before that counts as a rule.
constexpr int kRule = 8;
constexpr uint32_t kMostNumber = 255;  // then it begins again

uint64_t Number(std::string_view text, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) {
    value =
        value << 8 | (at + i < text.size() ? static_cast<uint8_t>(text[at + i])
                                           : uint8_t{0});
  }
  return value;
}

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads the fields of a packet one behind the other.
class Fields {
 public:
  explicit Fields(std::span<const uint8_t> packet) : packet_(packet) {}

  uint32_t Take(size_t bytes) {
    at_ += bytes;
    if (is_over()) return 0;
    return static_cast<uint32_t>(
        Number(Text(packet_), at_ - bytes, bytes < 4 ? bytes : 4));
  }
  // Takes a field whose length two bits of `lengths` tell.
  uint32_t TakeByLength(uint32_t lengths, int shift) {
    constexpr size_t kBytes[] = {0, 1, 2, 4};
    return Take(kBytes[lengths >> shift & 3]);
  }
  size_t at() const { return at_; }
  bool is_over() const { return at_ > packet_.size(); }

 private:
  std::span<const uint8_t> packet_;
  size_t at_ = 0;
};

}  // namespace

AsfHeader ReadAsfHeader(FileWindow& file) {
  constexpr std::string_view kHeader(
      "\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c", 16);
  constexpr std::string_view kData(
      "\x36\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c", 16);
  constexpr std::string_view kProperties(
      "\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0\x0c\x20\x53\x65", 16);
  constexpr size_t kMostHeader = 64 << 10;
  constexpr uint64_t kDataHeader = 50;
  const std::string header(Text(file.At(0, kMostHeader)));
  const size_t found = header.find(kProperties);
  if (!header.starts_with(kHeader) || found == header.npos) return {};
  const std::string_view properties = std::string_view(header).substr(found);
  AsfHeader told;
  const uint64_t data = Number(header, 16, 8);
  if (data > static_cast<uint64_t>(file.size())) return {};
  const std::string data_header(
      Text(file.At(static_cast<int64_t>(data), kDataHeader)));
  const bool has_data = data_header.starts_with(kData);
  const uint64_t packet_bytes = Number(properties, 96, 4);
  if (has_data && packet_bytes == Number(properties, 92, 4)) {
    told.packets = static_cast<int64_t>(data + kDataHeader);
    told.packet_bytes = static_cast<int64_t>(packet_bytes);
  }
  // A broadcast has no end that the header could tell.
  if (Number(properties, 88, 4) & 1) return told;
  const auto length = Number(properties, 64, 8) / 10;
  const auto buffered = Number(properties, 80, 8);
  if (length < INT64_MAX / 2 && buffered < length / 1000) {
    told.microseconds = static_cast<int64_t>(length - buffered * 1000);
  }
  const uint64_t bytes = Number(data_header, 16, 8);
  // A program that cannot seek back has not written the number of packets.
  if (has_data && packet_bytes > 0 && bytes > kDataHeader &&
      bytes < INT64_MAX / 2 &&
      (bytes - kDataHeader) / packet_bytes == Number(data_header, 40, 8)) {
    told.end = static_cast<int64_t>(data + bytes);
  }
  return told;
}

std::optional<AsfWalk> AsfWalk::Open(FileWindow file, int stream) {
  constexpr int64_t kMostPacketBytes = 1 << 20;
  const AsfHeader header = ReadAsfHeader(file);
  if (header.packet_bytes <= 0 || header.packet_bytes > kMostPacketBytes) {
    return std::nullopt;
  }
  return AsfWalk(std::move(file), header, stream);
}

void AsfWalk::Lose() {
  if (!lost_) broken_at_ = next_;
  lost_ = true;
}

void AsfWalk::Take(const Payload& payload) {
  if (payload.object_bytes == 0) {
    // Programs differ in whether numbers count these objects.
    object_bytes_ = 0;
    last_number_.reset();
    has_begun_ = true;
    return;
  }
  if (object_bytes_ != payload.object_bytes ||
      received_ + uint64_t{payload.bytes} > object_bytes_) {
    // libavformat drops what it has of the object before.
    if (object_bytes_ > 0) Lose();
    object_bytes_ = payload.object_bytes;
    number_ = payload.number;
    received_ = goes_on_at_ = 0;
    is_mixed_ = false;
  }
  if (payload.offset == 0) {
    const bool follows = last_number_ && ((*last_number_ + 1) & kMostNumber) ==
                                             (payload.number & kMostNumber);
    if (last_number_ && !follows && counted_ >= kRule) Lose();
    counted_ = follows ? counted_ + 1 : 0;
    has_begun_ = true;
    last_number_ = payload.number;
  }
  if (payload.number != number_ || payload.offset != goes_on_at_) {
    // A file can begin within an object.
    if (has_begun_) Lose();
    is_mixed_ = true;
  }
  received_ += payload.bytes;
  goes_on_at_ = payload.offset + payload.bytes;
  if (received_ < object_bytes_) return;
  is_torn_ |= is_mixed_ && has_begun_;
  object_bytes_ = 0;
}

bool AsfWalk::TakePayloads(std::span<const uint8_t> packet) {
  constexpr uint32_t kHasCorrection = 0x80;
  constexpr uint32_t kSeveral = 1;
  Fields fields(packet);
  uint32_t lengths = fields.Take(1);
  if (lengths & kHasCorrection) {
    if (lengths & 0x60) return false;
    fields.Take(lengths & 15);
    lengths = fields.Take(1);
  }
  const uint32_t properties = fields.Take(1);
  // The number of the stream has one byte.
  if (lengths & kHasCorrection || properties >> 6 != 1) return false;
  uint32_t end = fields.TakeByLength(lengths, 5);
  if (end == 0) end = static_cast<uint32_t>(packet.size());
  fields.TakeByLength(lengths, 1);
  const uint32_t padding = fields.TakeByLength(lengths, 3);
  fields.Take(6);  // times
  if (fields.is_over() || end > packet.size() || padding > end) return false;
  end -= padding;
  const uint32_t several = lengths & kSeveral ? fields.Take(1) : 1;
  for (uint32_t i = 0; i < (several & 0x3f); ++i) {
    Payload payload;
    payload.stream = static_cast<int>(fields.Take(1) & 0x7f);
    payload.number = fields.TakeByLength(properties, 4);
    payload.offset = fields.TakeByLength(properties, 2);
    const uint32_t replicated = fields.TakeByLength(properties, 0);
    const size_t before = fields.at();
    if (replicated >= 8) payload.object_bytes = fields.Take(4);
    fields.Take(replicated - (fields.at() - before));
    const size_t at_length = fields.at();
    payload.bytes = lengths & kSeveral ? fields.TakeByLength(several, 6)
                                       : end - static_cast<uint32_t>(at_length);
    if (fields.is_over() || fields.at() > end || payload.bytes == 0) {
      return false;
    }
    fields.Take(payload.bytes);
    if (fields.at() > end || payload.stream == 0) return false;
    if (payload.stream == stream_) Take(payload);
  }
  return true;
}

void AsfWalk::TakePacket() {
  const auto packet =
      file_.At(next_, static_cast<size_t>(header_.packet_bytes));
  const bool is_whole =
      static_cast<int64_t>(packet.size()) == header_.packet_bytes;
  if (!is_whole || !TakePayloads(packet)) {
    Lose();
    // What is overwritten may begin in the packet before.
    is_torn_ = true;
  }
  next_ += header_.packet_bytes;
}

bool AsfWalk::LostUntil(int64_t position) {
  if (position < 0 || position == last_ || position >= file_.size()) {
    return false;
  }
  if (next_ < 0 || position < last_) {
    Restart();
    next_ = position;
  }
  last_ = position;
  lost_ = false;
  is_torn_ = false;
  while (next_ + header_.packet_bytes <= position) TakePacket();
  if (next_ < position) {
    // Bytes were cut out, or put in.
    Lose();
    is_torn_ = true;
  }
  if (next_ <= position) {
    next_ = position;
    TakePacket();
  }
  return lost_;
}

bool AsfWalk::LostUntilEnd() {
  lost_ = false;
  is_torn_ = false;
  // Behind the packets there is an index.
  if (next_ < 0 || header_.end == 0) return false;
  const int64_t end = std::min(header_.end, file_.size());
  while (next_ + header_.packet_bytes <= end) TakePacket();
  if (object_bytes_ > 0 && has_begun_) Lose();
  return lost_;
}

void AsfWalk::Restart() {
  next_ = -1;
  last_ = -1;
  object_bytes_ = 0;
  last_number_.reset();
  counted_ = 0;
  has_begun_ = false;
}

}  // namespace bulkhead::worker
