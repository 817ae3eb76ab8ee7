// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/benchmark/ring/echo.capnp.h"

namespace bulkhead::benchmark {

// The size of a message whose root is a Note, in words of 8 bytes: the root
// pointer, nine words of numbers, a pointer to the text, and the text.
inline constexpr size_t kNoteTextBytes = 112;
inline constexpr size_t kNoteWords = 1 + 9 + 1 + kNoteTextBytes / 8;

// Fills every field of a Note (echo.capnp), which resembles a worker's reply.
inline void FillNote(Note::Builder note, uint64_t sequence) {
  note.setSequence(sequence);
  note.setPts(static_cast<int64_t>(sequence) * 512);
  note.setDuration(512);
  note.setPosition(static_cast<int64_t>(sequence) * 4096);
  note.setFingerprint(sequence * 0x9E3779B97F4A7C15);
  note.setSlot(static_cast<uint32_t>(sequence % 8));
  note.setGeneration(static_cast<uint32_t>(sequence));
  note.setWidth(1920);
  note.setHeight(1080);
  note.setStride(5760);
  note.setFlags(1);
  std::memset(note.initText(kNoteTextBytes).begin(), 'x', kNoteTextBytes);
}

// Reads every field. Returns whether FillNote() with the same sequence has
// written them.
inline bool CheckNote(Note::Reader note, uint64_t sequence) {
  return note.getSequence() == sequence &&
         note.getPts() == static_cast<int64_t>(sequence) * 512 &&
         note.getDuration() == 512 &&
         note.getPosition() == static_cast<int64_t>(sequence) * 4096 &&
         note.getFingerprint() == sequence * 0x9E3779B97F4A7C15 &&
         note.getSlot() == sequence % 8 &&
         note.getGeneration() == static_cast<uint32_t>(sequence) &&
         note.getWidth() == 1920 && note.getHeight() == 1080 &&
         note.getStride() == 5760 && note.getFlags() == 1 &&
         note.getText().size() == kNoteTextBytes;
}

}  // namespace bulkhead::benchmark
