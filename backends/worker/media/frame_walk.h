// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// The layout of a file whose frames have all the same size: raw DV, YUV4MPEG2.
struct FrameLayout {
  int64_t first = 0;        // the offset of the first frame
  int64_t bytes = 0;        // of a frame
  int64_t before = 0;       // of a frame that are before its packet
  std::string_view header;  // that each frame begins with
};

// Reads the layout. Returns nullopt for another container, and where the
// headers of the file do not tell the size. The file is hostile.
std::optional<FrameLayout> ReadFrameLayout(std::string_view container,
                                           FileWindow& file);

// Returns the size of the file with the whole of the last frame that begins in
// it; 0 if what stands there is no frame.
int64_t SizeWithLastFrame(const FrameLayout& layout, FileWindow& file);

// Walks a file whose frames have all the same size. Bytes are lost where no
// frame begins behind another, where libavformat may stop. Of the last frame,
// it may return a part. Zeroes at the end are padding, and less than a frame
// that is none is something else.
class FrameWalk final : public ContainerWalk {
 public:
  FrameWalk(FileWindow file, FrameLayout layout)
      : file_(std::move(file)), layout_(layout), next_(layout.first) {}

  bool LostUntil(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override { next_ = -1; }

 private:
  FileWindow file_;
  FrameLayout layout_;
  int64_t next_;  // the offset of the next frame; -1: unknown
};

}  // namespace bulkhead::worker
