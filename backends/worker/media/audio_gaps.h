// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/mp3_info.h"

namespace bulkhead::worker {

// Finds the bytes of a stream that belong to no frame, by the headers of the
// frames (MPEG audio, ADTS,
// AC-3, E-AC-3, DTS, MLP), and tells how many frames were there.
//
// The number is exact in two cases: the header of an .mp3 file counts the
// frames, and there is one gap; or all frames have the same length, and the gap
// is a whole number of them. Otherwise it is an estimate: the length of the gap
// divided by that of an average frame. If the header counts the frames, the
// estimates of all gaps add up to what is missing. For that, the first gap has
// the whole file read once more, without decoding, if it is not too large.
//
// Borrows the demuxer. A value type. Used by one thread.
class AudioGaps {
 public:
  explicit AudioGaps(const Demuxer& demuxer);

  // Takes the next packet of the stream.
  void Examine(const bulkhead_packet& packet);
  // Takes the end of the stream. lost_frames() then are those behind the last
  // frame, if the header of the file counts the frames.
  void End();

  // Properties of that packet: it begins with a frame, or this cannot be told;
  // bytes behind its frame, or all of it, are no frame; bytes of the file
  // before it are no frame.
  bool has_frame() const { return has_frame_; }
  bool has_surplus() const { return has_surplus_; }
  bool follows_hole() const { return follows_hole_; }
  // The packet is not exactly one frame, by the header that it begins with.
  bool is_irregular() const { return is_irregular_; }

  // Returns whether the file has fewer bytes than its header tells.
  bool is_shorter() const { return shorter_; }
  // Returns whether the file is cut off within the frame of that packet, as the
  // header of the file tells, or of a frame of raw AC-3.
  bool is_torn() const { return is_torn_; }

  // Returns how many frames were lost between the last two frames, if the
  // container has no timestamps, else 0.
  int64_t lost_frames() const { return lost_frames_; }
  bool estimated() const { return estimated_; }
  bool untimed() const { return untimed_; }
  // Returns true if only the headers of frames tell where the next one begins:
  // a frame that cannot be decoded may be the trace of others that were cut
  // out.
  bool may_hide_frames() const;

  // Returns what the header of the file tells, once a gap was found and the
  // frames of the file agree with it.
  const std::optional<Mp3Info>& agreed() const { return agreed_; }

 private:
  enum class Framing { kNone, kMpeg, kAdts, kAc3, kDts, kMlp };
  struct Totals {
    int64_t frames = 0;
    int64_t gaps = 0;
    int64_t gap_bytes = 0;
    bool ends_whole = false;
  };

  size_t FrameBytes(const bulkhead_packet& packet) const;
  bool IsTagAt(int64_t offset) const;
  // Returns whether the file has the start of these bytes at `offset`.
  bool IsAt(int64_t offset, std::span<const uint8_t> bytes);
  // Returns the offset of the packet in the file, -1 if unknown.
  int64_t PlaceOf(const bulkhead_packet& packet);
  // Returns bytes of the file from `offset` on.
  std::span<const uint8_t> At(int64_t offset, size_t count);
  void Close(int64_t gap);
  // Reads the whole file.
  std::optional<Totals> Count() const;
  void Agree();

  const Demuxer* demuxer_;
  bool untimed_;
  Framing framing_ = Framing::kNone;
  std::optional<Mp3Info> info_;
  std::optional<Mp3Info> agreed_;
  bool counted_ = false;  // there was an attempt to agree
  bool may_agree_ = true;
  bool shorter_ = false;  // the file has fewer bytes than its header tells
  Totals totals_;         // valid if agreed_
  int64_t lost_in_all_ = 0;

  bool has_frame_ = true;
  bool has_surplus_ = false;
  bool follows_hole_ = false;
  bool is_irregular_ = false;
  bool is_torn_ = false;
  int64_t lost_frames_ = 0;
  bool estimated_ = false;

  Totals seen_;
  int64_t gap_ = 0;  // bytes since the last frame
  int64_t lost_so_far_ = 0;
  int64_t end_ = -1;             // the offset behind the last packet
  std::vector<uint8_t> window_;  // bytes of the file, for ADTS
  int64_t window_begin_ = 0;
  // Lengths of the sound frames so far.
  int64_t sound_frames_ = 0;
  int64_t sound_bytes_ = 0;
  int64_t shortest_ = 0;
  int64_t longest_ = 0;
};

}  // namespace bulkhead::worker
