// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::libav_codec {

// Describes the values that an option takes, such as "a whole number from 0 to
// 16 or auto"; the caller's sentence begins "it takes". Returns an empty text
// if libavutil does not declare the values.
std::string AllowedValues(AVCodecContext* context, const char* option);

}  // namespace bulkhead::libav_codec
