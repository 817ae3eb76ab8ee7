// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "bulkhead/audio_decoder.h"

namespace bulkhead::tests {

// As ffmpeg writes them.
std::vector<float> Interleaved(const AudioSamples& samples);

// Bit for bit, not by value: a NaN is one too.
bool Same(const std::vector<float>& a, const std::vector<float>& b);

// Samples [from, to) of the whole, interleaved.
std::vector<float> PartOf(const AudioSamples& whole, size_t from, size_t to);

}  // namespace bulkhead::tests
