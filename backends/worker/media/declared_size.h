// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/worker/media/byte_range.h"
#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// Returns the size that a file should have according to the headers of its
// container; 0 if they do not tell. If that is more than its `size`, the file
// is cut off.
//
// - Matroska, WebM: the size of the segment;
// - AVI: the size of a chunk at the top (RIFF);
// - WAV, RF64, AIFF, AU, CAF: the size of the chunk with the samples;
// - MP4, MOV: the size of a box at the top;
// - Ogg: the last page that begins in the file;
// - MPEG-TS: the last packet that begins in the file;
// - FLV: the size in its metadata, unless the file is smaller and lacks no more
//   than the size behind the last tag, or another program than libavformat
//   wrote it and the tags reach the duration there (such programs copy the
//   metadata of another file);
// - ASF (WMA, WMV): the size of the object with the packets;
// - RealMedia, MXF, GIF, raw DV, YUV4MPEG2: declared_video_size.h.
//
// Sizes that stand for "unknown", as a program writes them that cannot seek
// back, tell nothing. The file is hostile: reads a bounded number of headers.
// `container` is the name of libavformat's demuxer.
int64_t DeclaredSize(std::string_view container, MediaBytes bytes,
                     int64_t size);

// Returns the place of the samples in a WAV file according to its header, empty
// if that does not tell.
ByteRange WavSamples(MediaBytes bytes, int64_t size);

// Returns how long the header of an ASF file says that it is, which libavformat
// does not tell of one that is cut off; -1 if that is unknown.
int64_t AsfMicroseconds(MediaBytes bytes, int64_t size);

}  // namespace bulkhead::worker
