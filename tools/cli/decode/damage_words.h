// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/audio_decoder.h>
#include <bulkhead/video_decoder.h>

#include <cstddef>
#include <string>
#include <vector>

namespace bulkhead::cli {

// How commands report damage and notes to people.

// Returns "frame 7 is damaged, 0.350 s to 0.400 s, byte 48: the decoder
// rejected the packet". Call these for damage.
std::string DescribeDamage(const DamagedRange& range);
std::string DescribeDamage(const DamagedSamples& damage);

// Return a line for each note of the list: "clip.ts: note: libavformat or the
// decoder found fault with the packet, 1.200 s, byte 4800". Of more than
// kMostNotes, the last line says how many more there are.
inline constexpr size_t kMostNotes = 10;
std::vector<std::string> NotesIn(const std::string& file,
                                 const std::vector<DamagedRange>& damage);
std::vector<std::string> NotesIn(const std::string& file,
                                 const std::vector<DamagedSamples>& damage);

}  // namespace bulkhead::cli
