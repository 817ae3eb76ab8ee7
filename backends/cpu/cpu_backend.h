// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

// Returns the function table of the reference backend, which decodes with
// libavcodec on the CPU. It has one device, named "cpu". Its pictures equal the
// ffmpeg program's byte for byte. It decodes directly into the runtime's
// buffers if those can hold the pictures
// (backends/libav_codec/runtime_buffers.h).
//
// The options of bulkhead_open_parameters are libavcodec's options of the codec
// context and of the decoder ("skip_frame", "err_detect", "filmgrain").
extern "C" const bulkhead_backend* bulkhead_cpu_backend(void);
