// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

// The reference backend: libavcodec on the CPU, one device named "cpu". Its
// pictures are those of the ffmpeg program, byte for byte. Pictures are decoded
// straight into the runtime's buffers where those can hold them.
//
// Options are libavcodec's, of the codec context and of the decoder
// ("skip_frame", "err_detect", "filmgrain").
extern "C" const bulkhead_backend* bulkhead_cpu_backend(void);
