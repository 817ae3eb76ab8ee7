// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/decoder_gaps.h"

#include <cstring>

extern "C" {
#include <libavutil/imgutils.h>
}

namespace bulkhead::libav_codec {

int64_t LeastBytes(const AVCodecContext& context) {
  if (context.codec_id != AV_CODEC_ID_RAWVIDEO) return 0;
  int bits = 0;
  switch (context.pix_fmt) {
    case AV_PIX_FMT_MONOWHITE:
    case AV_PIX_FMT_MONOBLACK:
      bits = 1;
      break;
    case AV_PIX_FMT_PAL8:
      bits = context.bits_per_coded_sample;
      if (bits != 1 && bits != 2 && bits != 4) bits = 8;
      break;
    default: {
      // Packets whose tag is "BIT" and any byte are not checked either.
      constexpr unsigned kTagWithoutCheck = MKTAG('B', 'I', 'T', 0);
      const bool checked = (context.codec_tag & 0xffffff) != kTagWithoutCheck;
      return checked ? 0
                     : av_image_get_buffer_size(context.pix_fmt, context.width,
                                                context.height, 1);
    }
  }
  return (int64_t{context.width} * bits + 7) / 8 * context.height;
}

int ChecksumsOf(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_FLAC:
    case AV_CODEC_ID_TTA:
    case AV_CODEC_ID_WAVPACK:
      return AV_EF_CRCCHECK | AV_EF_EXPLODE;
    default:
      return 0;
  }
}

bool LeavesPartsUnwritten(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_AV1:
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_VP9:
      return false;
    default:
      break;
  }
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get(codec);
  constexpr int kWhole = AV_CODEC_PROP_INTRA_ONLY | AV_CODEC_PROP_LOSSY;
  return descriptor == nullptr || (descriptor->props & kWhole) != kWhole;
}

bool IsAnimated(const AVPacket& webp) {
  constexpr int kFlags = 20;
  return webp.size > kFlags && std::memcmp(webp.data + 12, "VP8X", 4) == 0 &&
         (webp.data[kFlags] & 0x02) != 0;
}

}  // namespace bulkhead::libav_codec
