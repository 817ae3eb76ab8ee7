// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecParameters;

namespace bulkhead::worker::demux {

// Tracks the state, other than pictures, that packets of a stream set for all
// later packets:
//   - parameter sets and sequence headers (H.264, HEVC, AV1, the MPEG family),
//     tables (MPEG-2, JPEG), palettes and new extradata;
//   - user data, comments and SEI messages that name the encoder, since
//     libavcodec works around the bugs of some encoders;
//   - film grain, which depends on all earlier pictures.
//
//     CarriedState state(codec_parameters);     // the extradata's state
//     if (state.Read(packet)) ...               // every packet, in order
//
// A new decoder does not get the state of earlier packets. So it may begin at a
// packet only if its state after the packet equals the state of a decoder that
// got all packets. A flush does not reset the state, either: a flushed decoder
// keeps the state that the packets before the flush have set.
//
// The packets are hostile; at worst, the answer is wrong. Memory is bounded by
// the numbers of parameter sets and tables that the codecs have. A value type.
class CarriedState {
 public:
  explicit CarriedState(const AVCodecParameters& parameters);

  // Takes the next packet. Returns whether a new decoder that gets only this
  // packet has the same state after it as a decoder that got all packets.
  bool Read(const bulkhead_packet& packet_untrusted);

  // Returns whether a packet read so far makes libavcodec's pictures depend on
  // the number of its threads. Film grain of HEVC does so, since each thread
  // adds the grain that its own packets have described.
  bool depends_on_threads() const;

  // Returns whether the side data of a packet is state for later packets.
  static bool Carries(const bulkhead_side_data& side_data);

 private:
  using Bytes = std::span<const uint8_t>;

  // Sets the item `key` (its kind and number) to the hash of `value`.
  void Set(uint32_t key, Bytes value);
  // Sets an item that depends on all earlier packets. Read() returns false from
  // then on, unless the extradata set the item, too.
  void SetForGood(uint32_t key) { now_[key] = 0; }
  void ReadUnits(Bytes data, uint32_t length_bytes);
  void ReadSei(Bytes unit, size_t header_bytes);
  void ReadH264Unit(Bytes unit);
  void ReadHevcUnit(Bytes unit);
  void ReadMpeg2Unit(Bytes unit);
  void ReadMpeg4Unit(Bytes unit);
  void ReadAv1(Bytes data);
  void ReadJpeg(Bytes data);
  void ReadJpegTables(uint8_t marker, Bytes segment);
  void ReadParameterSets(Bytes extradata);

  int codec_;
  uint32_t length_bytes_ = 0;  // from NalLengthBytes()
  bool is_444_ = false;        // H.264: a profile with 4:4:4
  // Map the key of each item that was set to the hash of its value.
  std::map<uint32_t, uint64_t> initial_;  // after the extradata
  std::map<uint32_t, uint64_t> now_;      // after the last packet
  std::set<uint32_t> set_;  // the keys that the current packet has set
  // JPEG: false after the first scan of the current packet. Later items of the
  // packet come too late for its own picture, and count only for later packets.
  bool sets_in_time_ = true;
};

}  // namespace bulkhead::worker::demux
