// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// Walks containers that are a row of chunks, each with its own size. Bytes are
// lost where there is no chunk, and where chunks do not lead to one that
// libavformat returned. What stands behind the end that the header declares, or
// only fills the file up behind the last chunk, belongs to no stream
// (end_padding.h).
class ChunkWalk : public ContainerWalk {
 public:
  bool LostUntil(int64_t position) final;
  bool LostUntilEnd() final;
  void Restart() final;

 protected:
  explicit ChunkWalk(FileWindow file) : file_(std::move(file)) {}

  // Returns the offset behind the chunk at `offset`, or behind its header if
  // the chunks inside come next, or -1 if there is none.
  virtual int64_t After(int64_t offset) = 0;
  // Returns whether libavformat should not have passed over the chunk there.
  virtual bool IsMissed(int64_t /*offset*/) { return false; }
  // Returns whether chunks of the stream are missing before the one there,
  // though the chunks lead to each other.
  virtual bool IsBehindHole(int64_t /*offset*/) { return false; }
  // Returns the size of the file according to its header; 0 if unknown.
  virtual int64_t declared_size() const = 0;
  // Returns the offset of the chunk of the packet at `position`.
  virtual int64_t ChunkOf(int64_t position) const = 0;

  FileWindow file_;

 private:
  // Returns whether the chunks that lead to `offset` are all: what follows
  // there is behind the end that the header declares, or is padding.
  bool IsEnd(int64_t offset);

  int64_t last_ = -1;
  int64_t next_ = 0;  // the offset of the next chunk; -1: unknown
  std::optional<int64_t> padding_start_;
};

// AVI. Chunks have a code of four letters, and lists of chunks too.
class AviWalk final : public ChunkWalk {
 public:
  // `declared_size` is that of the file (declared_size.h).
  AviWalk(FileWindow file, int64_t declared_size)
      : ChunkWalk(std::move(file)), declared_size_(declared_size) {}

 private:
  int64_t declared_size() const override { return declared_size_; }
  int64_t After(int64_t offset) override;
  int64_t ChunkOf(int64_t position) const override { return position - 8; }

  int64_t declared_size_;
};

// Flash Video. Behind each tag there is its size, wrong in files of some
// programs: it counts as a sign if that of the first tag is right. Of a file
// that is smaller than its header tells, a step of the timestamps that is
// longer than nearly all others is where tags of pictures are missing. Another
// file may be joined behind the last tag.
class FlvWalk final : public ChunkWalk {
 public:
  // `is_sound`: the stream is that of the tags of sound. libavformat passes
  // over one whose codec is another. `declared_size` is that of the file
  // (declared_size.h).
  FlvWalk(FileWindow file, bool is_sound, int64_t declared_size)
      : ChunkWalk(std::move(file)),
        is_sound_(is_sound),
        declared_size_(declared_size) {}

 private:
  int64_t declared_size() const override { return declared_size_; }
  bool IsMissed(int64_t offset) override;
  bool IsBehindHole(int64_t offset) override;
  int64_t After(int64_t offset) override;
  int64_t ChunkOf(int64_t position) const override { return position; }
  // Returns the time of the picture in the tag there, or -1 if it has none.
  int64_t TimeOfPicture(int64_t offset);
  // Returns the step between two pictures, or 0 if it varies.
  int64_t ReadStep();

  bool is_sound_;
  int64_t declared_size_;
  std::optional<int64_t> step_;
  int64_t last_time_ = -1;
  std::optional<bool> has_right_sizes_;
};

}  // namespace bulkhead::worker
