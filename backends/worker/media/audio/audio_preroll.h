// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace bulkhead::worker::audio {

// Returns how many packets a new decoder of `codec` must decode before its
// output equals, bit for bit, the output of a decoder that started at the first
// packet. Returns nullopt if no number of packets is known to suffice.
//
// No number suffices for most lossy codecs, since their decoders keep state for
// ever: a noise generator (AAC, AC-3), accumulated rounding (MP2), a filter
// with feedback (Opus, AMR). The numbers follow from the formats, for decoders
// like FFmpeg's; audio_exactness_test verifies them.
std::optional<int> PrerollPackets(std::string_view codec);

}  // namespace bulkhead::worker::audio
