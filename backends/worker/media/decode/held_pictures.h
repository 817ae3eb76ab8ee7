// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/outstanding_packets.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/damage/packet_role.h"
#include "backends/worker/media/damage/reference_chain.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/decode/pass_check.h"
#include "ipc/damage_sign.h"
#include "ipc/error.h"
#include "ipc/loss.h"

namespace bulkhead::worker::decode {

// Holds the pictures that a decoder gave, until it is known which of them are
// damaged, and finds the losses between them: compares the packets that the
// decoder got with the pictures.
//
//     pictures.Sent(packet, disposable);       // each packet
//     *pictures.Take(std::move(frame));        // each picture of the decoder
//     pictures.Rejected();                     // or the decoder's error
//     while (auto picture = pictures.Release()) {
//       Report(pictures.TakeLosses());
//       Use(*picture);
//     }
//
// After an error, pictures are held back until it is known which of them the
// error affects (reference_chain.h).
//
// Each packet shows at most one picture, as in the index. Three kinds of
// pictures are left out: a second picture with the timestamp of the same
// packet, the picture of a packet that must not be output, and the picture of a
// packet that was reported as lost. Pictures that do not fit the packets are a
// breach of the ABI (PassCheck). One such breach is a picture that comes out
// after a later one: it seems lost until it comes. So if nothing else shows
// damage, the first loss is held back until the decoder's next picture has come
// and PassCheck has seen whether that is the lost one.
//
// Packets and the decoder's answers are hostile; at worst, a loss is wrong. The
// decoder must live until the next Forget() or the end of this object, since
// held frames are given back to it. Used by one thread. Fails as PassCheck
// does.
class HeldPictures {
 public:
  // The most pictures that are held. A decoder's picture buffer has room for
  // 16. If more pictures wait for a packet, the packet's timestamp is damaged.
  static constexpr size_t kMost = 32;

  struct Picture {
    DecodedFrame frame;
    // The byte offset of the picture's packet in the file, or -1.
    int64_t position = -1;
    // The sign that the decoder made up parts of the picture, or of a picture
    // that it refers to; kUnknown if there is none.
    ipc::DamageSign sign = ipc::DamageSign::kUnknown;
  };

  // Drops all pictures and losses. The decoder may then be closed or flushed.
  void Forget();
  // Begins again with a new decoder, at the first packet. `inspector` is a new
  // one for the stream. Must be called before the first packet.
  void Restart(std::unique_ptr<damage::PacketInspector> inspector);
  // Begins again after a seek to a packet with the timestamp `entry`, with a
  // new or a flushed decoder.
  void RestartAt(int64_t entry);

  // Records the packet that is sent next, and returns its role as its own bytes
  // show it. `disposable` says whether the container calls the packet
  // disposable; the returned role lacks that.
  const damage::PacketRole& Sent(const bulkhead_packet& packet,
                                 bool disposable);
  // Records that the decoder reported damage.
  void Rejected();
  // Adds losses or notes after the held pictures.
  void Add(const std::vector<ipc::Loss>& losses) {
    later_losses_.insert(later_losses_.end(), losses.begin(), losses.end());
  }
  // Checks a picture that came out of the decoder, and holds it.
  ipc::Expected<void> Take(DecodedFrame frame);
  // Records that the decoder has given its last picture. `whole` says that
  // decoding began at the first packet.
  ipc::Expected<void> End(bool whole);
  bool ended() const { return ended_; }

  // Returns the first of the held pictures if it is known whether that picture
  // is damaged. Call this after each Take() and End() until it returns none.
  std::optional<Picture> Release();
  // Returns the losses up to the picture that was released last; if Release()
  // has found no further picture after End(), also the losses after the last
  // one. Returns each loss only once.
  std::vector<ipc::Loss> TakeLosses() { return std::exchange(losses_, {}); }

  // Returns whether nothing has shown damage since the decoder was opened.
  bool sound() const { return !damage_.met && damage_.only_lost; }
  // Returns the number of packets since the decoder was opened.
  uint64_t packets() const { return check_.packets(); }

 private:
  struct Held {
    Picture picture;
    std::vector<ipc::Loss> losses;  // before the picture
  };

  // Gives lost packets their signs, and adds them to later_losses_.
  void AddLost(std::vector<ipc::Loss> losses);

  std::unique_ptr<damage::PacketInspector> inspector_;
  damage::OutstandingPackets outstanding_;
  damage::ReferenceChain chain_;
  PassCheck check_;
  PassCheck::Damage damage_;
  // The timestamp of the last packet whose picture a decoder of MPEG holds
  // back.
  int64_t held_pts_ = BULKHEAD_NO_TIMESTAMP;
  // The number of packets that the decoder has rejected, minus the packets
  // whose frames were reported as lost or came out damaged.
  uint64_t rejected_ = 0;
  // The last held picture comes after a loss, and the decoder's next picture
  // may be the lost one.
  bool awaits_next_ = false;
  bool ended_ = false;
  std::deque<Held> held_;
  std::vector<ipc::Loss> losses_;        // up to the released picture
  std::vector<ipc::Loss> later_losses_;  // after the held pictures
};

}  // namespace bulkhead::worker::decode
