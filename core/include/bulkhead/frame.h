// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

// What one of the three numbers of a pixel (red, green, blue) is.
enum class Dtype : uint8_t {
  kUint8,    // 0 to 255
  kFloat32,  // 0 to 1, of 16 bits
};
constexpr size_t BytesOf(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? 4 : 1;
}

// In which order shape() and strides() name the dimensions. Memory is the same
// for both, a row after the other, so that neither costs a copy.
enum class DimensionOrder : uint8_t { kNHWC, kNCHW };

// What is known of a Frame besides its pixels.
struct FrameInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t stride = 0;  // bytes from row to row
  Dtype dtype = Dtype::kUint8;
  DimensionOrder order = DimensionOrder::kNHWC;
  // Its number in the stream, for FrameAt(). Damaged frames before it count.
  uint64_t index = 0;
  // In the stream's time base; nullopt: the stream tells none.
  std::optional<int64_t> pts;
  int64_t duration = 0;
  double pts_seconds = 0;  // 0 when pts is nullopt
  double duration_seconds = 0;
  bool keyframe = false;
};

// One decoded picture, RGB: `height` rows of `width` pixels of three numbers,
// `stride` bytes apart, in host memory.
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
    return {data() + size_t{y} * info_.stride,
            3 * BytesOf(info_.dtype) * info_.width};
  }

  // As an array: [height, width, 3], or [3, height, width] as the decoder's
  // dimension_order says. Strides count elements, not bytes.
  Dtype dtype() const { return info_.dtype; }
  const std::byte* data() const { return pixels_; }
  std::array<size_t, 3> shape() const;
  std::array<size_t, 3> strides() const;

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

// Several pictures of one size in one block of memory, rows and pictures
// packed. As an array it is [N, height, width, 3], or [N, 3, height, width],
// the same memory seen in another order. Strides count elements, not bytes.
struct FrameBatch {
  uint32_t width = 0;
  uint32_t height = 0;
  Dtype dtype = Dtype::kUint8;
  DimensionOrder order = DimensionOrder::kNHWC;
  std::vector<std::byte> pixels;
  std::vector<double> pts_seconds;       // [N]
  std::vector<double> duration_seconds;  // [N]

  size_t size() const { return pts_seconds.size(); }
  size_t picture_bytes() const { return 3 * BytesOf(dtype) * width * height; }
  std::span<const std::byte> picture(size_t i) const {
    return {pixels.data() + i * picture_bytes(), picture_bytes()};
  }
  std::array<size_t, 4> shape() const;
  std::array<size_t, 4> strides() const;
};

}  // namespace bulkhead
