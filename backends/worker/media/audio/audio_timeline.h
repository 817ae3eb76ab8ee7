// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/demuxer.h"
#include "backends/worker/media/demux/missing_end.h"
#include "ipc/loss.h"

namespace bulkhead::worker {

using ipc::LostSamples;

// Counts the samples that damage has cost, so that those after it keep their
// numbers, and notes what is odd.
//
//     for each packet that was decoded: told = timeline.Add(packet, …)
//     told = timeline.AddEnd(demuxer.missing_end(), …)
//
// The ffmpeg program plays what the decoder yields, one after the other,
// whatever the timestamps say. So does AudioReader: nothing is missing before a
// packet unless the decoder has rejected others just before it. The timestamps
// say how much: the time of the packet, less the time that the samples before
// the damage lead to. Where the timestamps of the stream do not follow its
// samples, the durations of the rejected packets say it instead. (Where a file
// has no timestamps, .mp3, .aac, libavformat counts them on by frames.) After
// the last packet, the header says it.
//
// Numbers of samples are for one channel, `next` is the number of the next
// sample, and `rate` the number of samples in a second. Timestamps and
// durations are hostile. A value type: a copy goes on from the same place.
class AudioTimeline {
 public:
  // Quotes the decoder about a packet that it rejected; nullopt if it took it.
  using Rejection = std::optional<std::string>;

  explicit AudioTimeline(const StreamFacts& facts);

  // Takes a packet, and how many samples it yielded. Returns the samples that
  // are missing before its own, or a note, if there is anything to report.
  std::optional<LostSamples> Add(const bulkhead_packet& packet, int64_t samples,
                                 const Rejection& rejection, int64_t next,
                                 int64_t rate);
  // Returns the samples that are missing after the last one, or a note.
  // `drained` samples came from the decoder after the last packet. `shrank`
  // says that the file became shorter while it was read.
  std::optional<LostSamples> AddEnd(const MissingEnd& end, bool shrank,
                                    int64_t next, int64_t drained,
                                    int64_t rate);

  // Returns what the decoder said last of packets that no samples have
  // followed.
  const std::string& complaint() const { return damage_.complaint; }

 private:
  // The rejected packets since the last samples.
  struct Damage {
    int64_t packets = 0;
    int64_t ticks = 0;    // their durations
    int64_t samples = 0;  // that they yielded nevertheless
    int64_t first_byte = -1, last_byte = -1;
    std::string complaint;
  };

  // Does what Add does, for a packet with samples.
  std::optional<LostSamples> Place(const bulkhead_packet& packet,
                                   int64_t samples, const Rejection& rejection,
                                   int64_t next, int64_t rate);
  // Returns `missing` samples of the damage, or a note if that is none.
  LostSamples TakeDamage(int64_t next, int64_t missing, bool estimated);
  // Returns how many samples are missing before one whose time less its number
  // is `offset`, or BULKHEAD_NO_TIMESTAMP.
  int64_t Missing(int64_t offset, int64_t rate, bool* estimated) const;
  int64_t MissingByDurations(int64_t rate) const;
  int64_t At(int64_t ticks, int64_t rate) const;
  // Returns by how many samples a difference of timestamps may be wrong because
  // their unit is coarse.
  int64_t Tolerance(int64_t rate) const;
  // Returns whether so many samples by the timestamps are a gap to note.
  bool IsGap(int64_t gap, int64_t rate) const;
  // Returns the samples of each packet, if all have equally many, or 0.
  int64_t UsualBlock() const;

  bulkhead_rational unit_;
  int64_t start_;  // the time of the first sample, in ticks
  // The time of the next sample less its number, as the last packet with
  // samples says it.
  std::optional<int64_t> reference_;
  int64_t steps_ = 0, jumps_ = 0;  // from packet to packet; away from samples
  int64_t block_ = 0, repeats_ = 0, longest_ = 0;  // of the packets' samples
  int64_t end_position_ = -1;  // of the last packet, in the file
  int64_t notes_ = 0;
  Damage damage_;
};

}  // namespace bulkhead::worker
