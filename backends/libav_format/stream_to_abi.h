// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/sdk/bulkhead_backend.h"

struct AVPacket;
struct AVStream;

namespace bulkhead::libav_format {

// Translates what libavformat reads into the structs of the C ABI.
//
// The worker's demuxer, which feeds backends, and the clip of their unit tests
// (backends/testing/clip.h) share this code. A backend is
// therefore checked with exactly the structs that it will be given; a second
// translation would let a backend pass with values that it never sees in a
// worker. The sharing hides errors of the translation itself, so
// stream_to_abi_test states each field once more, and the exactness tests of
// backends/worker/media compare decoded pictures and samples with the ffmpeg
// program's.
//
// The structs point into the stream or packet, and into `side_data`, which is
// overwritten. All three must outlive the result, and must not change.

bulkhead_codec_parameters ParametersOf(
    const AVStream& stream, std::vector<bulkhead_side_data>* side_data);

bulkhead_packet PacketOf(const AVPacket& packet,
                         std::vector<bulkhead_side_data>* side_data);

}  // namespace bulkhead::libav_format
