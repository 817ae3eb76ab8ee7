// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// The index at the end of an AVI file (idx1), which lists the chunks of a
// stream in order. AVI has no timestamps, only chunks one behind the other, so
// that the index alone tells which chunk this is, once others are lost.
//
// libavformat does not find the index of a file that lost bytes, and makes up
// another one. This one finds it by the difference between the size that the
// file has and the one that it should have. The file is hostile: keeps at most
// a million entries. A value type; copies share the entries.
class AviIndex {
 public:
  // Returns nullopt if the file has no index that can be understood. `declared`
  // is the size of the file according to its header (declared_size.h), `stream`
  // the number of the stream.
  static std::optional<AviIndex> Read(FileWindow file, int64_t declared,
                                      int stream);

  // Returns when the chunk of the stream with the header at `offset` is due, in
  // samples or chunks, as libavformat counts them. `is_lost`: bytes are lost
  // before it, and none are known before that.
  std::optional<int64_t> TimeOf(FileWindow& file, int64_t offset, bool is_lost);
  // Returns the number of chunks, and of those that have bytes. A chunk without
  // bytes stands for a frame that is shown longer.
  uint64_t chunks() const { return entries_->size(); }
  uint64_t frames() const { return FramesIn(0, INT64_MAX); }
  // Returns how many chunks with bytes are lost between the offset `from`, at
  // which bytes are lost, and the chunk with the header at `to`; nullopt if
  // that is not in the index.
  std::optional<uint64_t> FramesBetween(int64_t from, int64_t to);
  // Returns the time at which the last chunk ends.
  int64_t end() const { return end_; }
  // Returns whether chunks have known numbers of samples, and the place of the
  // loss before the last chunk is known too: chunks with the same length may
  // match the index in two ways.
  bool is_exact() const { return is_exact_ && !is_ambiguous_; }

 private:
  struct Entry {
    int64_t offset = 0;  // before bytes were lost
    uint32_t size = 0;
    int64_t time = 0;
  };

  // Returns the entries from the offset `begin` to `end`.
  uint64_t FramesIn(int64_t begin, int64_t end) const;

  std::shared_ptr<const std::vector<Entry>> entries_;
  int64_t end_ = 0;
  bool is_exact_ = true;
  int64_t lost_bytes_ = 0;      // in the whole file; negative: it has more
  int64_t shift_ = 0;           // those before the last chunk that was found
  bool matched_twice_ = false;  // that chunk
  bool is_ambiguous_ = false;
};

}  // namespace bulkhead::worker
