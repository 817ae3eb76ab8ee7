// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace bulkhead::worker {

// How many packets a fresh decoder of `codec` has to be given before its output
// is, bit for bit, that of one which began at the beginning; nullopt: no number
// of packets is known to do.
//
// Most decoders of lossy audio keep something for ever: a generator of noise
// (AAC, AC-3), what rounding left over (MP2), a filter with feedback (Opus,
// AMR). The numbers are what the formats say, for decoders such as FFmpeg's;
// audio_exactness_test tries them.
std::optional<int> PrerollPackets(std::string_view codec);

}  // namespace bulkhead::worker
