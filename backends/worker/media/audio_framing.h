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
// A frame of E-AC-3 has the frames that depend on it behind it.
size_t Ac3FrameBytes(std::span<const uint8_t> packet);
size_t Ac3FirstFrameBytes(std::span<const uint8_t> packet);  // without those
// DTS, with its extensions. The lesser-used ways to store it have no length
// here: the result is that of the packet.
size_t DtsFrameBytes(std::span<const uint8_t> packet);
size_t MlpFrameBytes(std::span<const uint8_t> packet);  // MLP, TrueHD

// Returns true if `bytes` begin with a tag (ID3, APE, Lyrics3), which is no
// audio.
bool IsTag(std::span<const uint8_t> bytes);

}  // namespace bulkhead::worker
