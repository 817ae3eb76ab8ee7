// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead {

// The kinds of findings that VideoDecoder::damage() and AudioDecoder::damage()
// list. Damage makes a call fail under OnCorrupt::kError; a note never does. A
// file that `ffmpeg -v warning` plays without a message has at most notes.
// core/application/damage.md explains the rule.
enum class DamageKind : uint8_t {
  // Frames or samples are missing or wrong.
  kDamage,
  // Something was odd, but no frame or sample is missing or wrong because of
  // it: everything is delivered that ffmpeg would deliver.
  kNote,
};

// The evidence for damage, or the subject of a note.
enum class DamageSign : uint8_t {
  kUnknown,  // Damage without evidence: the worker does not say what showed it.

  // The signs of damage.

  kRejected,         // The decoder rejected the packet.
  kFlagged,          // The decoder said that it made up parts of the picture.
  kRefersToDamaged,  // The picture refers to a lost or damaged one.
  kNoPicture,  // The packet should show a picture, but the decoder returned
               // none for it.
  kStopped,    // libavformat stopped with an error before the end of the file.
  // The header of the file (MP4, Matroska, RIFF, FLAC) says that whole frames
  // or samples are missing at its end.
  kCutOff,
  kShrunk,    // The file became shorter while it was read.
  kPromised,  // The index has the frame, but a pass over the stream did not
              // deliver it.

  // The signs of notes.

  kMarked,        // libavformat or the decoder complained about the packet.
  kEndsInPacket,  // The file ends within its last packet.
  kGap,           // The timestamps leave a gap before the packet.
};

// The strings of the following functions have static storage.

// Returns "damage" or "note".
const char* DamageKindName(DamageKind kind);
// Returns "refers_to_damaged" and so on, as --json and Python have it.
const char* DamageSignName(DamageSign sign);
// Returns a clause for people: "the decoder rejected the packet".
const char* DamageSignText(DamageSign sign);

}  // namespace bulkhead
