// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::libav_codec {

// Returns a text about the values that an option takes, such as "a whole number
// from 0 to 16 or auto". Callers write it after "it takes". Returns an empty
// text if libavutil does not declare the values.
std::string AllowedValues(AVCodecContext* context, const char* option);

}  // namespace bulkhead::libav_codec
