// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace bulkhead::worker {

// Holds what the header of a video object layer of MPEG-4 tells (ISO/IEC
// 14496-2, section 6.2.3).
struct Mpeg4Layer {
  // The bits of the time in the header of a VOP, 0: unknown.
  int time_bits = 0;
  bool interlaced = false;
};

// Returns whether `unit`, from the byte behind the start code on, is the header
// of a video object layer.
bool IsMpeg4Layer(std::span<const uint8_t> unit);
Mpeg4Layer ReadMpeg4Layer(std::span<const uint8_t> unit);

// Returns whether libavcodec's pictures of a stream of MPEG-4 may depend on the
// number of its threads: those of interlaced streams with B-pictures do, since
// frame threads refer to rows of other pictures that are not decoded yet. True
// too if the extradata has no header.
bool Mpeg4DependsOnThreads(std::span<const uint8_t> extradata);

}  // namespace bulkhead::worker
