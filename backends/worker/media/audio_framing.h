// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::worker {

// Lengths in bytes of the frame that begins at the start of `packet`, as the
// frame's own header tells; 0 if no header is there, or one that tells no
// length. A parser that lost its way passes on the bytes behind such a frame as
// if they belonged to it. `packet` is hostile.

size_t MpegAudioFrameBytes(std::span<const uint8_t> packet);  // MP1 to MP3
size_t AdtsFrameBytes(std::span<const uint8_t> packet);       // AAC
size_t Ac3FrameBytes(std::span<const uint8_t> packet);

// Returns true if `bytes` begin with a tag (ID3, APE, Lyrics3), which is no
// audio.
bool IsTag(std::span<const uint8_t> bytes);

}  // namespace bulkhead::worker
