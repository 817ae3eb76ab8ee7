// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backends/worker/media/damage/packet_role.h"

namespace bulkhead::worker {

// Says which pictures refer to one that is lost or damaged. Decoders hardly
// ever do: they put some other picture in its place and go on, and the pictures
// that follow look sound and are wrong.
//
//     chain.Sent(role, pts, shows);          // each packet, in decoding order
//     chain.Lost(pts), chain.Shown(pts, damaged);
//     chain.Rejected();                      // the decoder reported an error
//     if (chain.Settled(pts)) Use(chain.Broken(pts));
//
// A packet that is lost or damaged breaks the chain for all packets sent after
// it, until the next entry (PacketRole), and for pictures that are shown before
// that entry but sent after it. What no packet refers to breaks nothing: what
// the container calls disposable, and B-pictures that are shown before a
// picture sent before them. All else counts as referred to, whatever its
// headers say, since they may be damaged too. Packets before the first keyframe
// break nothing either: many sound files begin in the middle, and only the
// decoder knows from where on its pictures are whole.
//
// A recovery point of H.264 with a gradual refresh becomes an entry once the
// refresh is complete, unless it was broken in between.
//
// Pictures come out in another order than packets go in. A decoder that met an
// error may have lost any packet whose picture is not out yet, so pictures that
// may refer to such a packet are not settled until it is known what became of
// it. Without errors, each picture is settled at once.
//
// Where timestamps do not say which packet a picture belongs to (OnlyCount),
// each break lasts until a keyframe comes out that was sent after it. After an
// error, no picture is settled until as many have come out as may be shown
// before a damaged one that is on its way; if one comes out, all are broken.
//
// The last few thousand packets are remembered. A value type.
class ReferenceChain {
 public:
  ReferenceChain() { Restart(); }

  // Begins again, with a new or a flushed decoder.
  void Restart();
  // Timestamps are of no use from now on.
  void OnlyCount() { timed_ = false; }

  // `shows`: a picture comes out for the packet.
  void Sent(const PacketRole& role, int64_t pts, bool shows);
  // Records that the decoder reported an error.
  void Rejected();
  // Records that the decoder met an error, though it took the packet.
  void Doubt() { doubtful_ = end(); }

  // Records that the packet gave no picture.
  void Lost(int64_t pts);
  // Records that the picture of the packet came out. `keyframe` and `damaged`
  // are what the decoder says of it.
  void Shown(int64_t pts, bool keyframe, bool damaged);

  // Returns whether it is known what became of all packets that the picture may
  // refer to. The end of the stream settles everything.
  bool Settled(int64_t pts) const;
  // Returns whether the picture, or one that it refers to, is damaged or lost.
  bool Broken(int64_t pts) const;

 private:
  // An entry and the packets after it, up to the next entry.
  struct Sequence {
    uint64_t first;  // the number of the entry
    int64_t pts;
    bool closed;
    bool has_keyframe;
    uint64_t refreshed_from;  // where the refresh began that made the entry
    // The packets from these numbers on refer to what is missing: all, or only
    // those that are shown before the entry.
    uint64_t broken = UINT64_MAX;
    uint64_t leading_broken = UINT64_MAX;
  };
  struct Packet {
    int64_t pts;
    bool shows;
    bool referred;
    bool leading;
    bool alone;
    bool keyframe;
    bool waits;        // its picture is not out yet, and not known to be lost
    bool cut = false;  // itself damaged
  };

  // Returns the number of the latest packet with the timestamp; end() if
  // there is none.
  uint64_t Find(int64_t pts) const;
  // Returns the number of the keyframe that comes out now, or of one before it.
  // `number` names the packet with its timestamp.
  uint64_t KeyframeOf(uint64_t number) const;
  size_t SequenceOf(uint64_t number) const;
  bool DependsOn(uint64_t number, uint64_t other) const;
  // Marks the packet sent last as damaged.
  void Cut();
  void Break(uint64_t number);
  void Forget();
  uint64_t end() const { return first_ + packets_.size(); }
  Packet& At(uint64_t number) { return packets_[number - first_]; }
  const Packet& At(uint64_t number) const { return packets_[number - first_]; }

  std::deque<Packet> packets_;
  uint64_t first_ = 0;  // the number of packets_[0]
  std::deque<Sequence> sequences_;
  uint64_t doubtful_ = 0;  // an error may concern packets before this number
  // A gradual refresh that is going on, and the pictures that it still needs.
  uint64_t refresh_began_ = 0;
  uint32_t refresh_left_ = 0;
  uint64_t shown_end_ = 0;      // after the latest packet whose picture is out
  int64_t latest_pts_ = 0;      // the greatest since the last entry was sent
  bool last_is_field_ = false;  // the packet sent last is a second field
  // Only without timestamps.
  bool timed_ = true;
  bool broken_ = false;
  uint64_t broken_from_ = 0;
  uint64_t accounted_ = 0;  // pictures that came out, and errors
};

}  // namespace bulkhead::worker
