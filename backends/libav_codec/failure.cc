// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/failure.h"

extern "C" {
#include <libavutil/error.h>
}

namespace bulkhead::libav_codec {

bulkhead_result ResultOf(int av_error) {
  if (av_error >= 0) return BULKHEAD_OK;
  switch (av_error) {
    case AVERROR(EAGAIN):
      return BULKHEAD_AGAIN;
    case AVERROR_EOF:
      return BULKHEAD_END_OF_STREAM;
    case AVERROR(ENOMEM):
      return BULKHEAD_OUT_OF_MEMORY;
    case AVERROR_BUG:
    case AVERROR_BUG2:
      return BULKHEAD_FAILED;
    default:
      // Decoders report damage with many error numbers: INVALIDDATA, but also
      // EINVAL, ERANGE, EXTERNAL and, for unsupported syntax, PATCHWELCOME.
      return BULKHEAD_BAD_INPUT;
  }
}

std::string TextOf(int av_error) {
  char text[AV_ERROR_MAX_STRING_SIZE];
  av_strerror(av_error, text, sizeof(text));
  return text;
}

}  // namespace bulkhead::libav_codec
