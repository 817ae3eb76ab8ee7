// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "bulkhead/audio_decoder.h"

namespace bulkhead::tests {

// Returns the samples interleaved, as ffmpeg writes them.
std::vector<float> Interleaved(const AudioSamples& samples);

// Compares bit for bit, so that a NaN equals the same NaN.
bool Same(const std::vector<float>& a, const std::vector<float>& b);

// Returns whether `part` is, bit for bit, what `whole` has from sample `from`
// on.
bool IsPart(const AudioSamples& part, const AudioSamples& whole, size_t from);

// Returns the samples [from, to) of `whole`, interleaved.
std::vector<float> PartOf(const AudioSamples& whole, size_t from, size_t to);

}  // namespace bulkhead::tests
