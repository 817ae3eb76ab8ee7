// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::ipc {

// A sign is what showed a worker that something is wrong with a stream. This
// list is the whole rule of what is an error, what is a note, and what is
// nothing (what has no sign here); core/application/damage.md explains it.
//
// A stream that `ffmpeg -v warning` plays without a word has no sign of an
// error: those come from the decoder, from libavformat where it stops, and from
// what the header of the file itself counts.
//
// Travels as Sign in schema/session.capnp, in the same order.
enum class DamageSign : uint8_t {
  kUnknown = 0,  // an error; the worker does not say what showed it

  // Errors: frames or samples are missing or wrong.

  // The decoder rejected the packet.
  kRejected = 1,
  // The decoder said of the picture that it made up parts.
  kFlagged = 2,
  // The picture refers to one that is lost or damaged.
  kRefersToDamaged = 3,
  // The packet shows a picture, and none came back for it.
  kNoPicture = 4,
  // libavformat stopped with an error before the end of the file.
  kStopped = 5,
  // The file's own header (MP4, Matroska, RIFF, FLAC) says that whole frames or
  // samples are missing at its end.
  kCutOff = 6,
  // The file became shorter while it was read.
  kShrunk = 7,
  // The index promised the frame, and a pass did not give it.
  kPromised = 8,

  // Notes: all that could be decoded is delivered, as ffmpeg delivers it.

  // libavformat marked the packet, or the decoder rejected it, and no sample is
  // missing. A picture that is lost or damaged has a sign of its own.
  kMarked = 9,
  // The file ends within its last packet.
  kEndsInPacket = 10,
  // The timestamps leave a gap before the packet.
  kGap = 11,
};

inline constexpr DamageSign kLastDamageSign = DamageSign::kGap;

constexpr bool IsNote(DamageSign sign) {
  return sign >= DamageSign::kMarked && sign <= kLastDamageSign;
}

}  // namespace bulkhead::ipc
