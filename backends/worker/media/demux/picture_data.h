// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/worker/media/demux/byte_range.h"
#include "backends/worker/media/demux/media_bytes.h"

struct AVFormatContext;
struct AVPacket;

namespace bulkhead::worker::demux {

// The place of a packet's bytes in a file.
struct PacketPlace {
  int32_t stream = -1;
  // The packet's AVPacket::pos, a byte offset. In Matroska, the contents of the
  // packet's block begin there, with the number of the track.
  int64_t position = -1;
  ByteRange bytes;
};

// Finds the coded picture data of the first packets of a file: the bytes of a
// picture after its headers.
//
// avformat_find_stream_info decodes the first packets, up to 20 of them, to
// learn what their headers say: the pixel format, the colours, the reorder
// delay. That decoding is most of the cost of opening a file, and the pictures
// are thrown away. So MediaSource hides the picture data meanwhile, and the
// decoders find pictures that break off after their headers.
//
//     auto places = PlacesInTables(*format);
//     file.source->Hide(PictureDataOf(*format, places, bytes, size));
//     avformat_find_stream_info(format, options);
//     file.source->Unhide();
//
// Knows VP8, VP9, and H.264 and HEVC with length-prefixed NAL units. Returns no
// range for other codecs and for packets that it does not understand, so these
// are decoded as a whole. The file is hostile. The number of ranges is bounded,
// and wrong ranges only change how a hostile file is described.
std::vector<ByteRange> PictureDataOf(const AVFormatContext& format,
                                     const std::vector<PacketPlace>& packets,
                                     MediaBytes bytes, int64_t size);

// The most packets of a stream that libavformat decodes to learn its reorder
// delay.
inline constexpr int kMostFirstPackets = 20;

// Returns the places of the first packets of each video stream, from the tables
// of an MP4 file. The bytes of such packets begin at `position`.
std::vector<PacketPlace> PlacesInTables(AVFormatContext& format);

// Returns the place of a Matroska packet that is alone in its block and stored
// unchanged there. Returns nullopt for other packets (lacing, compression).
std::optional<PacketPlace> PlaceInBlock(const AVPacket& packet,
                                        MediaBytes bytes);

}  // namespace bulkhead::worker::demux
