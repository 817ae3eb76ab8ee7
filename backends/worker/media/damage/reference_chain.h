// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backends/worker/media/damage/packet_role.h"

namespace bulkhead::worker::damage {

// Finds the pictures that refer, directly or not, to a lost or damaged picture.
// Decoders hardly ever report such pictures: they use another picture in place
// of a lost one, and the pictures that follow look intact and are wrong.
//
//     chain.Sent(role, pts, shows);          // each packet, in decoding order
//     chain.Lost(pts), chain.Shown(pts, keyframe, damaged);
//     chain.Rejected();                      // the decoder reported an error
//     if (chain.Settled(pts)) Use(chain.Broken(pts));
//
// A lost or damaged packet breaks the chain for all packets sent after it,
// until the next entry (PacketRole). It also breaks that entry's leading
// pictures, which are sent after the entry but shown before it. Three kinds of
// packets break nothing:
//   - packets that the container calls disposable;
//   - B-pictures that are shown before a picture sent before them;
//   - packets before the first keyframe. Many intact files lack the stream's
//     beginning, and only the decoder knows which pictures are complete.
// All other packets count as referred to, whatever their headers say, since the
// headers may be damaged, too.
//
// A recovery point of H.264 with a gradual refresh becomes an entry once the
// refresh is complete, unless the chain was broken in between.
//
// A picture is *settled* once it is known whether it is broken. Pictures come
// out in another order than packets go in, so a decoder that met an error may
// have lost any packet whose picture is not out yet. Pictures that may refer to
// such a packet are settled when the fate of the packet is known. Without
// errors, each picture is settled at once.
//
// If timestamps do not say which packet a picture belongs to (OnlyCount),
// pictures are only counted:
//   - A break lasts until a keyframe comes out that was sent after the break.
//   - An error may have damaged any of the next pictures. So no picture is
//     settled until a damaged picture has come out, which makes all waiting
//     pictures broken, or until enough pictures have come out.
//
// The last few thousand packets are remembered. A value type.
class ReferenceChain {
 public:
  ReferenceChain() { Restart(); }

  // Begins again, with a new or a flushed decoder.
  void Restart();
  // From now on only counts packets and pictures, without timestamps.
  void OnlyCount() { timed_ = false; }

  // Records that a packet was sent. `shows` says whether a picture comes out
  // for it.
  void Sent(const PacketRole& role, int64_t pts, bool shows);
  // Records that the decoder reported an error, for the packet sent last or an
  // earlier one.
  void Rejected();
  // Records that the decoder met an error in a packet that it did not reject.
  void Doubt() { doubtful_ = end(); }

  // The next four functions identify a packet and its picture by timestamp.

  // Records that the packet gave no picture.
  void Lost(int64_t pts);
  // Records that the picture of the packet came out. `keyframe` and `damaged`
  // are the decoder's flags for the picture.
  void Shown(int64_t pts, bool keyframe, bool damaged);

  // Returns whether it is known, for all packets that the picture may refer to,
  // whether they are lost or damaged. At the end of the stream, every picture
  // counts as settled, so do not ask.
  bool Settled(int64_t pts) const;
  // Returns whether the picture, or one that it refers to, is damaged or lost.
  // The answer may change until the picture is settled.
  bool Broken(int64_t pts) const;

 private:
  // An entry and the packets after it, up to the next entry.
  struct Sequence {
    uint64_t first;  // the number of the entry
    int64_t pts;
    bool closed;
    bool has_keyframe;
    // If the entry ends a gradual refresh, the number of the packet at which
    // the refresh began; `first` for other entries.
    uint64_t refreshed_from;
    // Packets from the number `broken` on refer to a lost or damaged packet.
    // Leading pictures from the number `leading_broken` on do so, too.
    uint64_t broken = UINT64_MAX;
    uint64_t leading_broken = UINT64_MAX;
  };
  struct Packet {
    int64_t pts;
    bool shows;
    bool referred;
    bool leading;  // shown before the last entry
    bool alone;
    bool keyframe;
    bool waits;        // its picture is neither out nor known to be lost
    bool cut = false;  // the packet itself is damaged
  };

  // Packets are numbered in the order in which they were sent.

  // Returns the number of the latest packet with the timestamp; end() if
  // there is none.
  uint64_t Find(int64_t pts) const;
  // Returns the number of the keyframe whose picture comes out now. `number` is
  // the packet with the picture's timestamp, or end(). If it is no keyframe,
  // the result is found by counting, and may be an earlier keyframe, or 0.
  uint64_t KeyframeOf(uint64_t number) const;
  // Returns the index of the packet's sequence in sequences_.
  size_t SequenceOf(uint64_t number) const;
  // Returns whether packet `number` may refer to packet `other`.
  bool DependsOn(uint64_t number, uint64_t other) const;
  // Marks the packet sent last as damaged.
  void Cut();
  // Breaks the chain at a packet that is lost or damaged.
  void Break(uint64_t number);
  // Forgets the oldest packets if there are more than are to be remembered.
  void Forget();
  uint64_t end() const { return first_ + packets_.size(); }
  Packet& At(uint64_t number) { return packets_[number - first_]; }
  const Packet& At(uint64_t number) const { return packets_[number - first_]; }

  std::deque<Packet> packets_;
  uint64_t first_ = 0;  // the number of packets_[0]
  std::deque<Sequence> sequences_;
  uint64_t doubtful_ = 0;  // an error may concern packets before this number
  // The packet at which a gradual refresh began, and the number of pictures
  // that the refresh still needs; 0 if there is no refresh.
  uint64_t refresh_began_ = 0;
  uint32_t refresh_left_ = 0;
  uint64_t shown_end_ = 0;      // 1 + the last packet whose picture is out
  int64_t latest_pts_ = 0;      // the greatest since the last entry was sent
  bool last_is_field_ = false;  // the packet sent last is a second field
  bool timed_ = true;           // false after OnlyCount(); then these are used:
  bool broken_ = false;         // pictures that come out now are broken
  uint64_t broken_from_ = 0;    // a keyframe from this number on ends the break
  uint64_t accounted_ = 0;  // the number of pictures that came out, and errors
};

}  // namespace bulkhead::worker::damage
