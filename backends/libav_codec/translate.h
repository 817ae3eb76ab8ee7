// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/libav_codec/failure.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Between the structs of the C ABI and those of libavcodec. Strings become
// identifiers by FFmpeg's own tables; nothing is guessed. All copy what they
// take, so the caller's memory is free again on return.

// Every field of the container's description. `codec` comes from the name and
// decides whether they are read as those of video or of audio.
Expected<CodecParametersPtr> ToCodecParameters(
    const bulkhead_codec_parameters& parameters, const AVCodec& codec);

// Side data whose kind this libavcodec does not know is left out.
Expected<PacketPtr> ToPacket(const bulkhead_packet& packet);

// Attaches blobs to `packet`, except kinds that it carries already. A display
// matrix of the stream stays out: turning the picture is the runtime's.
bool AddStreamSideData(const bulkhead_side_data* side_data, size_t count,
                       AVPacket* packet);
bool AddStreamSideData(const AVPacket& from, AVPacket* packet);

// Fills all fields of *to but `buffer` and `private_data`. The planes, and the
// array of those of audio, still belong to `from`.
void DescribeFrame(const AVFrame& from, bulkhead_frame* to);

// Whether the frame holds audio rather than a picture.
bool IsAudio(const AVFrame& frame);

AVRational ToRational(bulkhead_rational value);

}  // namespace bulkhead::libav_codec
