// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/audio_decoder.h>
#include <bulkhead/video_decoder.h>

#include <cstddef>
#include <string>
#include <vector>

namespace bulkhead::cli::decode {

// Functions that turn damage into text for people. An entry of a list of damage
// may be a note (DamageKind::kNote): something odd that spoiled no output.

// Return a sentence such as "frame 7 is damaged, 0.350 s to 0.400 s, byte 48:
// the decoder rejected the packet". The argument must not be a note.
std::string DescribeDamage(const DamagedRange& range);
std::string DescribeDamage(const DamagedSamples& damage);

// Return a line for each note of the list: "clip.ts: note: libavformat or the
// decoder found fault with the packet, 1.200 s, byte 4800". If there are more
// than kMostNotes, the last line says how many were left out.
inline constexpr size_t kMostNotes = 10;
std::vector<std::string> NotesIn(const std::string& file,
                                 const std::vector<DamagedRange>& damage);
std::vector<std::string> NotesIn(const std::string& file,
                                 const std::vector<DamagedSamples>& damage);

}  // namespace bulkhead::cli::decode
