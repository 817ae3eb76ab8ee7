// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::ipc {

// The evidence by which a worker knows that something is wrong with a stream.
// This list decides what is an error and what is a note; anything without a
// sign is neither. core/application/damage.md explains the rule.
//
// A stream that `ffmpeg -v warning` plays without a message has no error:
// errors come from the decoder, from libavformat where it stops, and from the
// numbers in the file's own header.
//
// Travels as Sign in schema/session.capnp, which has the same order.
enum class DamageSign : uint8_t {
  kUnknown = 0,  // an error without evidence: the worker does not say why

  // Errors: frames or samples are missing or wrong.

  // The decoder rejected the packet.
  kRejected = 1,
  // The decoder said that it made up parts of the picture.
  kFlagged = 2,
  // The picture refers to a lost or damaged picture.
  kRefersToDamaged = 3,
  // The packet should show a picture, but the decoder returned none for it.
  kNoPicture = 4,
  // libavformat stopped with an error before the end of the file.
  kStopped = 5,
  // The file's own header (MP4, Matroska, RIFF, FLAC) says that whole frames or
  // samples are missing at its end.
  kCutOff = 6,
  // The file became shorter while it was read.
  kShrunk = 7,
  // The index has the frame, but a pass did not deliver it.
  kPromised = 8,

  // Notes: all that could be decoded is delivered, as ffmpeg delivers it.

  // libavformat marked the packet as corrupt, or the decoder rejected it, but
  // no sample is missing. (A lost or damaged picture has an error's sign
  // instead.)
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
