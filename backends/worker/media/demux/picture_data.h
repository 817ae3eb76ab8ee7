// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/worker/media/demux/byte_range.h"
#include "backends/worker/media/demux/media_bytes.h"

struct AVFormatContext;
struct AVPacket;

namespace bulkhead::worker {

// The place of a packet's bytes in a file.
struct PacketPlace {
  int32_t stream = -1;
  // AVPacket::pos. In Matroska it is the place of the block around the packet.
  int64_t position = -1;
  ByteRange bytes;
};

// Finds the coded picture data of the first packets of a file: the bytes of a
// picture after its headers.
//
// avformat_find_stream_info decodes the first packets, up to 20 of them, to
// learn what their headers say: the pixel format, the colours, the delay by
// reordering. That decoding is most of the cost of opening a file, and the
// pictures are thrown away. MediaSource can hide these bytes meanwhile, and a
// decoder then finds pictures that break off after their headers.
//
//     auto places = PlacesInTables(*format);
//     file.source->Hide(PictureDataOf(*format, places, bytes, size));
//     avformat_find_stream_info(format, options);
//     file.source->Unhide();
//
// Knows H.264 and HEVC with the lengths of their units, VP8 and VP9. Returns
// nothing for other codecs, nor for what it does not understand in a packet:
// those bytes are decoded. The file is hostile; the result is bounded in number
// and wrong ranges change at most what a hostile file is taken for.
std::vector<ByteRange> PictureDataOf(const AVFormatContext& format,
                                     const std::vector<PacketPlace>& packets,
                                     MediaBytes bytes, int64_t size);

// libavformat decodes no more packets of a stream to learn its delay.
inline constexpr int kMostFirstPackets = 20;

// Returns the places of the first packets of each stream according to the
// tables of an MP4 file, whose packets have their bytes at `position`.
std::vector<PacketPlace> PlacesInTables(AVFormatContext& format);

// Returns the place of a packet of Matroska that lies as a whole in its block;
// nullopt if it does not (laces, compression).
std::optional<PacketPlace> PlaceInBlock(const AVPacket& packet,
                                        MediaBytes bytes);

}  // namespace bulkhead::worker
