// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/sdk/bulkhead_backend.h"

struct AVPacket;
struct AVStream;

namespace bulkhead::libav_format {

// Functions that translate libavformat's streams and packets into the structs
// of the C ABI.
//
// The worker's demuxer, which feeds backends, and the clips of their unit tests
// (backends/testing/clip.h) share this code. So unit tests give a backend
// exactly the structs that a worker gives it. Such tests cannot find errors of
// the translation itself. Therefore stream_to_abi_test checks each field, and
// the exactness tests of backends/worker/media compare decoded pictures and
// samples with the ffmpeg program's.
//
// A returned struct points into the stream or packet and into `side_data`,
// which the function overwrites. Both must outlive the struct and must not
// change.

// Returns the codec parameters of a stream.
bulkhead_codec_parameters ParametersOf(
    const AVStream& stream, std::vector<bulkhead_side_data>* side_data);

// Returns the packet as a struct of the C ABI.
bulkhead_packet PacketOf(const AVPacket& packet,
                         std::vector<bulkhead_side_data>* side_data);

}  // namespace bulkhead::libav_format
