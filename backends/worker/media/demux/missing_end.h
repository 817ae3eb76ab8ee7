// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/media_bytes.h"

struct AVStream;

namespace bulkhead::worker::demux {

class MediaFile;

// The signs that a stream goes on after the last packet that could be read, so
// that its end is missing. If `error`, `declared_size` and `packets` have their
// default values, the stream is complete.
struct MissingEnd {
  // The error with which libavformat stopped before the end of the file; empty
  // if it read to the end.
  std::string error;
  // The offset in the file up to which libavformat has read; -1 if unknown.
  int64_t byte = -1;
  // The size in bytes that the file should have according to its header (MP4,
  // Matroska, RIFF), if the file is shorter; -1 if it is not.
  int64_t declared_size = -1;
  // How many packets the header lists after the last one that was read (MP4,
  // AVI); 0 if the header does not say.
  uint64_t packets = 0;
  // The end of the stream according to the header, in the stream's time base
  // (MP4, Matroska, FLAC; RIFF only if the file is cut off), or
  // BULKHEAD_NO_TIMESTAMP if unknown. An `end` after the last packet alone is
  // no sign of a missing end, since complete files may end earlier.
  int64_t end = BULKHEAD_NO_TIMESTAMP;
  // True if `end` is rounded (Matroska).
  bool is_rounded = false;
  // True if `end` is known to belong to this stream, and not to another stream
  // of the file (Matroska).
  bool is_of_stream = false;
  // True if the file ends within the last packet that was read.
  bool ends_in_packet = false;
};

// The facts about a stream's last packet that FindMissingEnd needs.
struct LastPacket {
  // The latest decoding timestamp of all packets that were read since the
  // beginning or a seek.
  int64_t latest_dts = BULKHEAD_NO_TIMESTAMP;
  int64_t duration = 0;    // in the stream's time base
  bool is_marked = false;  // libavformat calls the packet corrupt
};

// Returns the signs that packets are missing after the last one. Call this once
// `file`, whose contents are the `size` bytes of `bytes`, has no further packet
// of `stream`. Headers are hostile; at worst, the result is wrong.
MissingEnd FindMissingEnd(const MediaFile& file, AVStream& stream,
                          MediaBytes bytes, int64_t size,
                          const LastPacket& last);

}  // namespace bulkhead::worker::demux
