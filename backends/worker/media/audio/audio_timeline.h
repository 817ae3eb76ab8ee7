// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/demuxer.h"
#include "backends/worker/media/demux/missing_end.h"
#include "ipc/loss.h"

namespace bulkhead::worker::audio {

using ipc::LostSamples;

// Counts the samples that were lost to damage, so that later samples keep their
// numbers. Also reports gaps in the timestamps, as notes (ipc/damage_sign.h).
//
//     for each packet that was decoded: told = timeline.Add(packet, …)
//     told = timeline.AddEnd(demuxer.missing_end(), …)
//
// The ffmpeg program plays the decoder's samples one after the other, whatever
// the timestamps say, and so does AudioReader. So samples are missing before a
// packet only if the decoder has rejected packets just before it. Their number
// follows from one of these:
//   - in a stream whose timestamps follow its samples: the packet's timestamp,
//     minus the end of the samples before the damage (for files without
//     timestamps, such as .mp3 and .aac, libavformat makes timestamps by
//     counting frames);
//   - in other streams: the durations of the rejected packets;
//   - after the last packet: the header of the file.
//
// In all functions, numbers of samples are for one channel, `next` is the
// number that the next sample gets, and `rate` is the sample rate in Hz.
// Timestamps and durations are hostile. A value type: a copy continues from the
// same packet.
class AudioTimeline {
 public:
  // The decoder's sentence about a packet that it rejected; nullopt if the
  // decoder accepted the packet.
  using Rejection = std::optional<std::string>;

  explicit AudioTimeline(const demux::StreamFacts& facts);

  // Takes a packet and the number of samples that it yielded. Returns the
  // samples that are missing before them, or a note, or nothing.
  std::optional<LostSamples> Add(const bulkhead_packet& packet, int64_t samples,
                                 const Rejection& rejection, int64_t next,
                                 int64_t rate);
  // Returns the samples that are missing after the last one, or a note, or
  // nothing. The decoder has given the last `drained` samples after the last
  // packet. `shrank` says that the file became shorter while it was read.
  std::optional<LostSamples> AddEnd(const demux::MissingEnd& end, bool shrank,
                                    int64_t next, int64_t drained,
                                    int64_t rate);

  // Returns the decoder's sentence about the last rejected packet if no packet
  // after it has yielded samples; empty in other cases.
  const std::string& complaint() const { return damage_.complaint; }

 private:
  // The rejected packets since the last samples.
  struct Damage {
    int64_t packets = 0;
    int64_t ticks = 0;    // the sum of their durations
    int64_t samples = 0;  // samples that they yielded nevertheless
    int64_t first_byte = -1, last_byte = -1;  // in the file
    std::string complaint;
  };

  // Implements Add for a packet with samples.
  std::optional<LostSamples> Place(const bulkhead_packet& packet,
                                   int64_t samples, const Rejection& rejection,
                                   int64_t next, int64_t rate);
  // Returns and forgets the damage: as `missing` samples, or as a note if
  // `missing` is 0.
  LostSamples TakeDamage(int64_t next, int64_t missing, bool estimated);
  // Returns how many samples are missing before a packet, and sets `estimated`
  // to whether the number is only an estimate. `offset` is the time of the
  // packet, converted to samples, minus the number of its first sample;
  // BULKHEAD_NO_TIMESTAMP if the packet has no time.
  int64_t Missing(int64_t offset, int64_t rate, bool* estimated) const;
  // Returns the same number, from the durations of the rejected packets alone.
  int64_t MissingByDurations(int64_t rate) const;
  // Converts ticks to samples.
  int64_t At(int64_t ticks, int64_t rate) const;
  // Returns by how many samples a difference of timestamps may be wrong because
  // their unit is coarse.
  int64_t Tolerance(int64_t rate) const;
  // Returns whether a difference of `gap` samples between the timestamps and
  // the samples is a gap to note.
  bool IsGap(int64_t gap, int64_t rate) const;
  // Returns the number of samples per packet if it was the same in the last few
  // accepted packets, or 0.
  int64_t UsualBlock() const;

  bulkhead_rational unit_;
  int64_t start_;  // the time of the first sample, in ticks
  // The offset (see Missing()) of the last packet that had samples and a
  // timestamp. If nothing is missing, the next packet has the same offset.
  std::optional<int64_t> reference_;
  // The number of steps from packet to packet, and the number of jumps among
  // them: steps at which the timestamps do not follow the samples.
  int64_t steps_ = 0, jumps_ = 0;
  int64_t block_ = 0;          // the samples of the last accepted packet
  int64_t repeats_ = 0;        // accepted packets in a row with block_ samples
  int64_t longest_ = 0;        // the most samples of any accepted packet
  int64_t end_position_ = -1;  // byte offset of the end of the last packet
  int64_t notes_ = 0;          // the number of notes
  Damage damage_;
};

}  // namespace bulkhead::worker::audio
