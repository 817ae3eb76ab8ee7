// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecParameters;

namespace bulkhead::worker {

// The state that packets of a stream set for all packets that follow, besides
// pictures: parameter sets and sequence headers (H.264, HEVC, AV1, the MPEG
// family), tables (MPEG-2, JPEG), palettes and new extradata; and what shows
// libavcodec by which encoder's faults to go, in user data, comments and SEI
// messages. Film grain depends on all pictures before.
//
//     CarriedState state(codec_parameters);     // of a decoder that is opened
//     if (state.Read(packet)) ...               // every packet that it gets
//
// A decoder may begin at a packet only if the state in force there equals a new
// decoder's state after this packet, since nothing sends the state of earlier
// packets again. Likewise, a decoder that goes on at another packet after a
// flush has the state of the last one that it got.
//
// The packets are hostile; the answer is wrong at worst. Bounded by the numbers
// of parameter sets and tables that the codecs have. A value type.
class CarriedState {
 public:
  explicit CarriedState(const AVCodecParameters& parameters);

  // Takes the next packet. Returns whether a decoder that is opened now has the
  // same state once it has got this packet alone.
  bool Read(const bulkhead_packet& packet_untrusted);

  // Returns whether what was read makes libavcodec's pictures depend on the
  // number of its threads: film grain of HEVC, since each thread adds the grain
  // that its own packets have described.
  bool depends_on_threads() const;

  // Returns whether side data of a packet is such state.
  static bool Carries(const bulkhead_side_data& side_data);

 private:
  using Bytes = std::span<const uint8_t>;

  void Set(uint32_t key, Bytes value);
  // Sets what no packet sets anew.
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
  uint32_t length_bytes_ = 0;  // as of NalLengthBytes()
  bool is_444_ = false;        // H.264: a profile with 4:4:4
  // The hash of each item that was set, by kind and number.
  std::map<uint32_t, uint64_t> initial_;  // by the extradata
  std::map<uint32_t, uint64_t> now_;
  std::set<uint32_t> set_;    // by the packet that is read
  bool sets_in_time_ = true;  // what is set counts for this packet itself
};

}  // namespace bulkhead::worker
