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
  switch (av_error) {
    case AVERROR(EINVAL):
      return "a value in the data, or of an option, is not valid";
    case AVERROR(EPERM):
    case AVERROR(ERANGE):
    case AVERROR(EIO):
      // Decoders return -1, which is EPERM, and other numbers for damage.
      return "the data is damaged";
    default:
      break;
  }
  char text[AV_ERROR_MAX_STRING_SIZE];
  // Error numbers that one decoder defines itself, such as AC-3, have no text.
  return av_strerror(av_error, text, sizeof(text)) < 0 ? "the data is damaged"
                                                       : text;
}

}  // namespace bulkhead::libav_codec
