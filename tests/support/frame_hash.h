// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bulkhead/frame.h"
#include "bulkhead/host.h"
#include "bulkhead/video_decoder.h"

namespace bulkhead::tests {

// Returns the hash of a picture as packed RGB24, or of its native planes one
// after the other, in hexadecimal. `ffmpeg -f framehash -hash murmur3` prints
// the same (ffmpeg_hash.h).
std::string HashOf(const Frame& frame);
std::string HashOf(std::span<const std::byte> packed);

// Returns the hashes of all frames that Next() still returns. Throws if
// decoding fails.
std::vector<std::string> HashesOfRest(VideoDecoder& video);

// Returns the hashes of the first frames of a file, at most `most`, and after
// them the name of the error's code if decoding failed.
std::vector<std::string> HashesOrError(Host& host, const std::string& path,
                                       const VideoOptions& options,
                                       size_t most);

}  // namespace bulkhead::tests
