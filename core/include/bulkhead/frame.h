// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bulkhead {

namespace session {
class FrameLease;
}

// What is known of a Frame besides its pixels.
struct FrameInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t stride = 0;  // bytes from row to row
  // Frames from Next(): how many came before it. Frames from FrameAt(): its
  // index.
  uint64_t index = 0;
  // In the stream's time base; nullopt: the stream tells none.
  std::optional<int64_t> pts;
  int64_t duration = 0;
  double pts_seconds = 0;  // 0 when pts is nullopt
  double duration_seconds = 0;
  bool keyframe = false;
};

// One decoded picture, RGB24: `height` rows of `3 * width` bytes, `stride`
// bytes apart, in host memory.
//
//     auto frame = decoder.Next();           // Result<std::optional<Frame>>
//     for (uint32_t y = 0; y < f.height(); ++y) Use(f.row(y));
//
// A Frame is a lease on a slot of the session's memory: destroying it gives the
// slot back to the decoder, which stalls when the application keeps them all.
// It outlives its decoder, worker, supervisor and Host. Movable, not copyable;
// destroyed on any thread.
//
// Trust: geometry and timestamp were validated and cannot change. The pixels
// can, as long as the worker that wrote them lives: code that reads them twice
// and must see the same takes a Snapshot().
class Frame {
 public:
  // The lease owns the memory; `device` names who wrote it.
  Frame(std::shared_ptr<session::FrameLease> lease, FrameInfo info,
        std::shared_ptr<const std::string> device);
  ~Frame();
  Frame(Frame&&) noexcept;
  Frame& operator=(Frame&&) noexcept;

  uint32_t width() const { return info_.width; }
  uint32_t height() const { return info_.height; }
  uint32_t stride() const { return info_.stride; }
  std::span<const std::byte> row(uint32_t y) const {
    return {pixels_ + size_t{y} * info_.stride, size_t{3} * info_.width};
  }
  uint64_t index() const { return info_.index; }
  std::optional<int64_t> pts() const { return info_.pts; }
  int64_t duration() const { return info_.duration; }
  double pts_seconds() const { return info_.pts_seconds; }
  double duration_seconds() const { return info_.duration_seconds; }
  bool keyframe() const { return info_.keyframe; }
  // The device that decoded it, such as "openreg:1".
  const std::string& device() const { return *device_; }

  // The same picture in memory of its own, rows packed, beyond the reach of
  // any worker.
  Frame Snapshot() const;

 private:
  std::shared_ptr<session::FrameLease> lease_;
  const std::byte* pixels_;
  FrameInfo info_;
  std::shared_ptr<const std::string> device_;
};

// Several pictures of one size, copied and packed: [N][height][width][3].
struct FrameBatch {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<std::byte> pixels;
  std::vector<double> pts_seconds;       // [N]
  std::vector<double> duration_seconds;  // [N]

  size_t size() const { return pts_seconds.size(); }
  std::span<const std::byte> picture(size_t i) const {
    const size_t bytes = size_t{3} * width * height;
    return {pixels.data() + i * bytes, bytes};
  }
};

}  // namespace bulkhead
