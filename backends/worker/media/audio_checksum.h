// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker {

// Checks the checksums that frames of AC-3, E-AC-3 and MP3 have in them.
// Decoders mostly decode a damaged frame to some noise without a word. (Those
// of lossless sound cover what is decoded, so the backend checks them.)
//
// Some programs write no checksum, or change a frame and leave its checksum as
// it was. So a wrong one is damage only where those before were right. MP3 may
// have none; they cover the start of a frame. The packets are hostile.
//
// A value type.
class AudioChecksum {
 public:
  // `codec` is FFmpeg's name.
  explicit AudioChecksum(std::string_view codec);

  // Takes the next packet. Returns true if it is damaged by its checksum.
  bool IsWrong(const bulkhead_packet& packet);

 private:
  enum class Kind { kNone, kAc3, kMp3 };

  Kind kind_;
  int64_t right_ = 0, wrong_ = 0;  // packets so far
};

// Cuts off what follows the frames of a packet of raw AC-3 or E-AC-3: a tag,
// or anything but a frame, if the checksums of the frames are right. libavcodec
// rejects a frame with such bytes behind it.
class RawAc3 {
 public:
  explicit RawAc3(std::string_view container);

  // Returns the packet without those bytes, which is valid until the next call,
  // and as long as `packet` is.
  bulkhead_packet FramesOf(const bulkhead_packet& packet);

 private:
  bool is_raw_;
  std::vector<uint8_t> frames_;
};

// Returns whether the packet is one frame of FLAC with nothing behind it, by
// its checksum.
bool IsOneFlacFrame(const bulkhead_packet& packet);

}  // namespace bulkhead::worker
