// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/worker/media/byte_range.h"
#include "backends/worker/media/media_bytes.h"

struct AVFormatContext;

namespace bulkhead::worker {

// Finds the coded picture data of the first packets of a file: the bytes of
// slices behind their headers.
//
// avformat_find_stream_info decodes the first packets, up to 20 of them, to
// learn what their headers say: the pixel format, the colours, the delay by
// reordering. That decoding is most of the cost of opening a file, and the
// pictures are thrown away. MediaSource can hide these bytes meanwhile, and a
// decoder then finds slices that break off after their headers.
//
//     file.source->Hide(PictureDataOf(*format, bytes, size));
//     avformat_find_stream_info(format, options);
//     file.source->Unhide();
//
// Knows H.264 and HEVC in MP4, whose tables give the places of all packets.
// Returns nothing for other files, nor for what it does not understand in a
// file: those bytes are decoded. The file is hostile; the result is bounded in
// number, and wrong ranges change at most what a hostile file is taken for.
std::vector<ByteRange> PictureDataOf(AVFormatContext& format, MediaBytes bytes,
                                     int64_t size);

}  // namespace bulkhead::worker
