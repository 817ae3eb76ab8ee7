// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead {

// VideoDecoder::damage() and AudioDecoder::damage() list damage and notes.
// Damage fails a call under OnCorrupt::kError, and a note fails none: what
// `ffmpeg -v warning` plays without a word has at most notes.
// core/application/damage.md explains the rule.
enum class DamageKind : uint8_t {
  // Frames or samples are missing or wrong.
  kDamage,
  // Something was odd, and all that could be decoded is delivered, as ffmpeg
  // delivers it. A note stands for no frame and no sample.
  kNote,
};

// A sign is what showed damage, or what a note is about.
enum class DamageSign : uint8_t {
  kUnknown,  // Damage; the worker does not say what showed it.

  // The signs of damage.

  kRejected,         // The decoder rejected the packet.
  kFlagged,          // The decoder said that it made up parts of the picture.
  kRefersToDamaged,  // The picture refers to one that is lost or damaged.
  kNoPicture,        // The packet shows a picture, and none came back for it.
  kStopped,  // libavformat stopped with an error before the end of the file.
  // The header of the file (MP4, Matroska, RIFF, FLAC) says that whole frames
  // or samples are missing at its end.
  kCutOff,
  kShrunk,    // The file became shorter while it was read.
  kPromised,  // The index promised the frame, and a pass did not give it.

  // The signs of notes.

  kMarked,        // libavformat or the decoder found fault.
  kEndsInPacket,  // The file ends within its last packet.
  kGap,           // The timestamps leave a gap before the packet.
};

// All strings have static storage.

// Returns "damage" or "note".
const char* DamageKindName(DamageKind kind);
// Returns "refers_to_damaged" and so on, as --json and Python have it.
const char* DamageSignName(DamageSign sign);
// Returns a clause for people: "the decoder rejected the packet".
const char* DamageSignText(DamageSign sign);

}  // namespace bulkhead
