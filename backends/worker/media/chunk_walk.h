// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// Walks containers that are a row of chunks, each with its own size. Bytes are
// lost where there is no chunk, and where chunks do not lead to one that
// libavformat returned.
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
  // Returns the offset of the chunk of the packet at `position`.
  virtual int64_t ChunkOf(int64_t position) const = 0;

  FileWindow file_;

 private:
  int64_t last_ = -1;
  int64_t next_ = 0;  // the offset of the next chunk; -1: unknown
};

// AVI. Chunks have a code of four letters, and lists of chunks too.
class AviWalk final : public ChunkWalk {
 public:
  explicit AviWalk(FileWindow file) : ChunkWalk(std::move(file)) {}

 private:
  int64_t After(int64_t offset) override;
  int64_t ChunkOf(int64_t position) const override { return position - 8; }
};

// Flash Video. Behind each tag there is its size, wrong in files of some
// programs: it counts as a sign if that of the first tag is right.
class FlvWalk final : public ChunkWalk {
 public:
  // `is_sound`: the stream is that of the tags of sound. libavformat passes
  // over one whose codec is another.
  explicit FlvWalk(FileWindow file, bool is_sound = false)
      : ChunkWalk(std::move(file)), is_sound_(is_sound) {}

 private:
  bool IsMissed(int64_t offset) override;
  int64_t After(int64_t offset) override;
  int64_t ChunkOf(int64_t position) const override { return position; }

  bool is_sound_;
  std::optional<bool> has_right_sizes_;
};

}  // namespace bulkhead::worker
