// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// The header of a box of MP4 (ISO/IEC 14496-12).
struct Mp4Box {
  std::string kind;     // four letters
  int64_t data = 0;     // the offset of its content
  int64_t end = 0;      // the offset behind it
  bool to_end = false;  // up to the end of the file, by its size of 0
};

// Returns the box whose header is at `offset`, or nullopt if the bytes there
// are no header. The box may end behind the file.
std::optional<Mp4Box> ReadMp4Box(FileWindow& file, int64_t offset);
// Returns whether the kind of a box is written as all known ones are.
bool IsMp4Kind(std::string_view kind);

// The defaults that the header of a file tells for the fragments of one track
// ("trex").
struct FragmentedTrack {
  uint32_t id = 0;
  uint32_t duration = 0;      // of a sample, in ticks, where it has no other
  uint32_t size = 0;          // likewise, in bytes
  std::vector<uint32_t> ids;  // of all tracks
};

// Reads the header ("moov"), which is `moov`, for the track `id`. Returns
// nullopt if it announces no fragments of the track.
std::optional<FragmentedTrack> ReadFragmentedTrack(FileWindow& file,
                                                   const Mp4Box& moov,
                                                   uint32_t id);

// Samples of one track, of at least one byte each.
struct SampleCount {
  uint64_t samples = 0;
  int64_t ticks = 0;  // how long they last
};

// The header of a movie fragment ("moof").
struct MovieFragment {
  int64_t offset = 0;
  int64_t end = 0;
  uint32_t number = 0;   // 0: not told
  bool readable = true;  // nothing is missing in it or contradicts itself
  bool has_track = false;
  std::optional<int64_t> begin;  // of the track, in the order of decoding
  SampleCount all;
  SampleCount behind;    // those whose bytes begin behind a position
  int64_t data_end = 0;  // the offset behind the last byte of a sample
};

// Reads the fragment `moof` at `offset`, and counts the samples of `track` that
// it lists, also those behind `position`. The file is hostile: a number is any
// that its field can hold.
MovieFragment ReadMovieFragment(FileWindow& file, int64_t offset,
                                const Mp4Box& moof,
                                const FragmentedTrack& track, int64_t position);

// Returns the times at which fragments of the track `id` are shown, according
// to the index of the file ("mfra"), which need not list all.
std::vector<int64_t> ReadFragmentIndex(FileWindow& file, const Mp4Box& mfra,
                                       uint32_t id);

}  // namespace bulkhead::worker
