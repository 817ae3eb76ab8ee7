// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"
#include "backends/worker/media/movie_fragment.h"

namespace bulkhead::worker {

// Walks the boxes of a fragmented MP4. Each fragment lists its samples, and
// tells its number and the time at which it begins. Samples of a track are lost
//
// - where the boxes do not lead from one to the next, and fragments of the
//   track follow, which libavformat does not find;
// - where a fragment begins later than the one before ends, and beside that a
//   number is left out or a box cannot be read;
// - behind the last packet, if fragments list more samples, or the index at the
//   end of the file ("mfra") lists more fragments.
//
// A gap in the times alone is none. Nor are numbers that begin anew, repeat or
// always leave some out, as where segments were joined. Boxes of any kind may
// lie between fragments.
class FragmentWalk final : public ContainerWalk {
 public:
  // Returns null if the header announces no fragments of the track.
  static std::unique_ptr<FragmentWalk> Open(FileWindow file, int track);

  bool LostUntil(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override;

 private:
  // A place at which a box begins, and what is known there.
  struct Place {
    int64_t offset = 0;
    std::optional<int64_t> expected;  // the time of the next fragment
    uint32_t number = 0;              // of the last fragment; 0: none
    int64_t fragment = -1;            // the offset of the track's last one
    uint64_t fragments = 0;           // of the track
    SampleCount samples;              // in them
  };

  FragmentWalk(FileWindow file, FragmentedTrack track)
      : file_(std::move(file)), track_(std::move(track)) {}

  void ReturnTo(int64_t position);
  // Goes on to the next box. Returns true if samples of the track are lost
  // before it.
  bool Step();
  bool Take(const MovieFragment& fragment);
  // Goes on to the next fragment that can be found.
  void Search();
  // Returns whether the next fragment has the number behind that of this one.
  bool NumbersFollow(const MovieFragment& fragment);
  void ReadIndex(const Mp4Box& index);
  // Returns how many samples this time has.
  uint64_t SamplesIn(int64_t ticks) const;
  uint64_t LostByIndex() const;
  void Suspect(int64_t offset);

  FileWindow file_;
  FragmentedTrack track_;
  Place at_;
  std::vector<Place> places_;  // of fragments, to return to
  int64_t box_ = 0;            // the offset of the box before at_
  int64_t position_ = -1;      // of the last packet in the file
  bool went_back_ = false;     // a packet was before the one before
  int64_t suspect_ = -1;       // what cannot be read before the next fragment
  bool is_broken_ = false;     // boxes do not lead to it
  // The file is cut off in the samples of a fragment that was read.
  bool ends_in_data_ = false;
  bool restarted_ = false;
  bool counts_ = false;    // numbers have followed each other
  int64_t gap_ticks_ = 0;  // before the last fragment
  uint64_t unread_ = 0;    // samples behind the last packet, at the end
  // According to the index.
  uint64_t indexed_fragments_ = 0;
  int64_t last_indexed_ = 0;  // the time of the last of them
};

}  // namespace bulkhead::worker
