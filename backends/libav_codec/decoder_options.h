// SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "backends/libav_codec/failure.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Sets the options that the application gives for a stream. Fails with a
// sentence that says which values an option takes.
Expected<void> SetOptions(const bulkhead_open_parameters& parameters,
                          AVCodecContext* context);

}  // namespace bulkhead::libav_codec
