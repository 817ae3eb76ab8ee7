// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ipc/error.h"

namespace bulkhead::worker::demux {

class MediaFile;

enum class StreamKind { kVideo, kAudio };

// Values in place of a stream's index:
inline constexpr int32_t kFirstStream = -1;  // the first stream of a kind
inline constexpr int32_t kBestStream = -2;   // av_find_best_stream chooses

// Returns the index of the stream to decode. `wanted` is an index, kFirstStream
// or kBestStream. kFirstStream passes over cover pictures, except in a file
// whose only video streams are cover pictures. (ffmpeg's `0:v:0` always counts
// cover pictures.)
//
// Fails if the file has no stream of the kind: with kUnsupported if the file
// refers to other files, with kBadInput if no codec in it is known, and with
// kNotFound in all other cases. Fails with kInvalidArgument if the stream with
// the index `wanted` is of another kind or does not exist.
ipc::Expected<int> ChooseStream(const MediaFile& file, StreamKind kind,
                                int32_t wanted);

}  // namespace bulkhead::worker::demux
