// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/worker/media/damage/outstanding_packets.h"
#include "backends/worker/media/decode/abi_breach.h"
#include "ipc/error.h"

namespace bulkhead::worker::decode {

// Checks the pictures of a decoder against the packets that it got, for
// breaches of the C ABI: too many pictures, pictures with timestamps of no
// packet, out of order or all equal, and no picture at all.
//
// In a damaged stream, decoders guess timestamps. So each check gets the damage
// that was met so far; if there is any, most checks are left out. All failures
// are kBackendMisbehaved. A value type.
class PassCheck {
 public:
  // The damage that was met since the decoder was opened.
  struct Damage {
    bool met = false;         // there was damage, or a picture was lost
    bool only_lost = true;    // there was no damage other than lost pictures
    bool complained = false;  // the decoder has returned BAD_INPUT
  };

  // Begins again, with a new decoder.
  void Restart() { *this = PassCheck(); }
  // Begins again after a seek, with a decoder that was flushed.
  void RestartTimestamps() { equal_timestamps_.Restart(); }

  // Records that a packet was read, which will be sent.
  void Read() { ++packets_; }
  // Records that a packet shows a picture.
  void Sent(int64_t pts, uint64_t bytes) { equal_timestamps_.Sent(pts, bytes); }
  // Checks a picture that came out. `origin` says to which packet it belongs.
  ipc::Expected<void> Shown(damage::OutstandingPackets::Origin origin,
                            int64_t pts, const Damage& damage);
  // Checks that there was a picture. Call this at the end of the stream.
  // `expects_picture` says that decoding began at the first packet, and that a
  // keyframe had intact headers.
  ipc::Expected<void> Ended(bool expects_picture, const Damage& damage) const;

  // Returns the number of packets since the decoder was opened.
  uint64_t packets() const { return packets_; }

 private:
  uint64_t packets_ = 0;
  uint64_t pictures_ = 0;
  EqualTimestamps equal_timestamps_;
};

}  // namespace bulkhead::worker::decode
