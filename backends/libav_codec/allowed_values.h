// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::libav_codec {

// Returns what the option takes, in words that follow "it takes": "a whole
// number from 0 to 16 or auto". Empty if libavutil does not say.
std::string AllowedValues(AVCodecContext* context, const char* option);

}  // namespace bulkhead::libav_codec
