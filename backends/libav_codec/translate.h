// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/libav_codec/failure.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Functions that translate between the structs of the C ABI and libavcodec's.
// FFmpeg's own tables translate names to identifiers; nothing is guessed. The
// functions that return structs of libavcodec copy all data, so their arguments
// need not outlive the call.

// Translates the parameters. `codec` is the decoder for parameters.codec; its
// type decides whether the fields of video or of audio are translated.
Expected<CodecParametersPtr> ToCodecParameters(
    const bulkhead_codec_parameters& parameters, const AVCodec& codec);

// Translates a packet. Leaves out side data of kinds that libavcodec does not
// know.
Expected<PacketPtr> ToPacket(const bulkhead_packet& packet);

// Attach the stream's side data to `packet`, except kinds that the packet has
// already. A display matrix is left out, since the runtime rotates the
// pictures. Both return false if there is no memory.
bool AddStreamSideData(const bulkhead_side_data* side_data, size_t count,
                       AVPacket* packet);
bool AddStreamSideData(const AVPacket& from, AVPacket* packet);

// Fills all fields of *to except `buffer` and `private_data`. The planes of a
// picture, and the array of audio planes, still belong to `from`.
void DescribeFrame(const AVFrame& from, bulkhead_frame* to);

// Returns whether the frame holds audio rather than a picture.
bool IsAudio(const AVFrame& frame);

AVRational ToRational(bulkhead_rational value);

}  // namespace bulkhead::libav_codec
