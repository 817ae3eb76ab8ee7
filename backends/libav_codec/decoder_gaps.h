// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::libav_codec {

// Functions that say where libavcodec's decoders leave damage or unfit streams
// unnoticed, so that LibavDecoder has to act.

// Returns the least number of bytes that a packet of raw pictures must have, or
// 0 if libavcodec checks the size itself. For pictures with few bits per pixel
// it does not: it copies the bytes of a short packet, and leaves old contents
// of the memory in the rest of the picture.
int64_t LeastBytes(const AVCodecContext& context);

// Returns the flags that make a decoder reject a packet whose checksum is
// wrong. Without them, libavcodec ignores the checksums of lossless audio. Only
// codecs whose encoders always write a checksum are listed.
int ChecksumsOf(AVCodecID codec);

// Returns whether libavcodec's decoder of the codec may silently leave parts of
// a picture unwritten, if a packet is short or an earlier one is missing. These
// parts would show an earlier picture, which depends on the order in which
// threads and the application give buffers back. Therefore the memory must be
// cleared. Other decoders conceal or report such parts, or write each picture
// as a whole. Clearing their pictures would cost up to a tenth of their time.
bool LeavesPartsUnwritten(AVCodecID codec);

// Returns whether the header of a WebP file says that the picture is animated
// ("Extended File Format" in the WebP container specification).
bool IsAnimated(const AVPacket& webp);

}  // namespace bulkhead::libav_codec
