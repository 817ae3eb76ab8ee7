// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead {

namespace worker_protocol {
class FrameLease;
struct NativeFormat;
}  // namespace worker_protocol

// The form in which pictures of a stream are delivered.
enum class OutputFormat : uint8_t {
  // Upright RGB, three numbers a pixel.
  kRgb,
  // The planes that the decoder made, in its own pixel format, neither
  // converted nor rotated. They are not even copied if the decoder writes into
  // Bulkhead's memory. Equal to `ffmpeg -noautorotate -f rawvideo`, byte for
  // byte.
  kNative,
};

// The type of the three numbers of a pixel (red, green, blue).
enum class Dtype : uint8_t {
  kUint8,    // 0 to 255.
  kFloat32,  // 0 to 1, converted with 16 bits of precision.
};
// Returns the number of bytes of one number.
constexpr size_t BytesOf(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? 4 : 1;
}

// The order in which shape() and strides() name the dimensions: number of
// pictures, height, width, channels; or number, channels, height, width. The
// memory is the same for both, one row after the other, so choosing an order
// costs no copy.
enum class DimensionOrder : uint8_t { kNHWC, kNCHW };

// The type of the numbers in a plane.
enum class SampleType : uint8_t { kUint8, kUint16, kUint32, kFloat32 };
constexpr size_t BytesOf(SampleType type) {
  if (type == SampleType::kUint8) return 1;
  return type == SampleType::kUint16 ? 2 : 4;
}

// One plane of a picture: `height` rows of `width` elements of `samples`
// numbers each. Luma has one sample in an element, interleaved chroma (nv12)
// has two, RGB three. An element of a packed format may stand for several
// pixels: four samples for two pixels of yuyv422, one byte for eight pixels of
// monob. The palette of pal8 is a plane of one row of 256 elements.
struct Plane {
  const std::byte* data = nullptr;  // Valid as long as the Frame.
  uint32_t stride = 0;              // Bytes from one row to the next.
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t samples = 0;
  SampleType type = SampleType::kUint8;
  bool big_endian = false;  // The order of the bytes of a number.

  size_t row_bytes() const { return BytesOf(type) * samples * width; }
  // Returns row `y`, without padding; requires y < height.
  std::span<const std::byte> row(uint32_t y) const {
    return {data + size_t{y} * stride, row_bytes()};
  }
};

// The meaning of the numbers of a native picture, as the decoder states it.
struct Color {
  // Code points of ITU-T H.273; 2 means unspecified.
  uint8_t primaries = 2;
  uint8_t transfer = 2;
  uint8_t space = 2;
  uint8_t range = 0;  // 1 is limited, 2 is full, 0 is unspecified.
  // The place of the samples of subsampled chroma: 0 unspecified, 1 left, 2
  // center, 3 top left, 4 top, 5 bottom left, 6 bottom.
  uint8_t chroma_location = 0;
  bool operator==(const Color&) const = default;
};

// The field of an interlaced picture that is shown first: the field of the top
// row or of the row below it. kProgressive if the picture has no fields.
enum class FieldOrder : uint8_t { kProgressive, kTopFirst, kBottomFirst };

// Everything about a Frame except its pixels.
struct FrameInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t stride = 0;  // Bytes from one row to the next; RGB only.
  Dtype dtype = Dtype::kUint8;
  DimensionOrder order = DimensionOrder::kNHWC;
  // The frame's number in the stream, as FrameAt() takes it. Damaged frames
  // count too.
  uint64_t index = 0;
  // The presentation timestamp in ticks of the stream's time base; nullopt if
  // the stream has none.
  std::optional<int64_t> pts;
  // In ticks of the time base. If the file does not state the duration, it is
  // taken from the index; 0 if the stream has no index yet.
  int64_t duration = 0;
  double pts_seconds = 0;  // 0 if `pts` is nullopt.
  double duration_seconds = 0;
  bool keyframe = false;
  // True if the decoder made up parts of the picture. Only with
  // OnCorrupt::kShow.
  bool damaged = false;
  OutputFormat format = OutputFormat::kRgb;
  // These two are set only for kNative. For kRgb, `color` is unspecified and
  // `field_order` is kProgressive.
  Color color;
  FieldOrder field_order = FieldOrder::kProgressive;
};

// One decoded picture in host memory. An RGB picture has height() rows,
// stride() bytes apart, of width() pixels of three numbers each:
//
//     Result<Frame> frame = decoder.FrameAt(0);
//     for (uint32_t y = 0; y < frame->height(); ++y) Use(frame->row(y));
//
// Every picture has planes; an RGB picture has one. With OutputFormat::kNative,
// planes are the only access to the pixels, and the members for RGB throw
// StatusError (kInvalidArgument).
//
//     Result<Frame> native = decoder.FrameAt(0);
//     for (const Plane& plane : native->planes()) {
//       for (uint32_t y = 0; y < plane.height; ++y) Use(plane.row(y));
//     }
//
// Ownership: a Frame is a lease on a slot of the session's memory. Destroying
// the Frame returns the slot to the decoder; when the application holds every
// slot, the decoder's Next() fails with kResourceExhausted. A Frame outlives
// its decoder, worker, supervisor and Host.
//
// Thread safety: const methods may be called from any number of threads, and a
// Frame may be destroyed on any thread. Movable, not copyable.
//
// Trust: size and timestamp were validated and cannot change. The pixels can
// change while the worker that wrote them lives. Code that reads pixels twice
// and must see the same values takes a Snapshot().
class Frame {
 public:
  // Used by the decoders. `lease` owns the memory; `device` names the device
  // that wrote it. `native` is null for RGB.
  Frame(std::shared_ptr<worker_protocol::FrameLease> lease, FrameInfo info,
        std::shared_ptr<const std::string> device,
        std::shared_ptr<const worker_protocol::NativeFormat> native = nullptr);
  ~Frame();
  Frame(Frame&&) noexcept;
  Frame& operator=(Frame&&) noexcept;

  uint32_t width() const { return info_.width; }
  uint32_t height() const { return info_.height; }

  OutputFormat format() const { return info_.format; }
  // Returns the name that FFmpeg gives the pixel format: "yuv420p", "p010le".
  // RGB is "rgb24", or "rgbf32le" with floats.
  const std::string& pixel_format() const;
  size_t plane_count() const;
  // Throws StatusError (kOutOfRange) unless i < plane_count().
  Plane plane(size_t i) const;
  std::vector<Plane> planes() const;
  Color color() const { return info_.color; }
  FieldOrder field_order() const { return info_.field_order; }

  // The members from here to strides() are for RGB.
  uint32_t stride() const {
    CheckRgb();
    return info_.stride;
  }
  // Returns the pixels of row `y`, without padding; requires y < height().
  std::span<const std::byte> row(uint32_t y) const {
    return {data() + size_t{y} * info_.stride,
            3 * BytesOf(info_.dtype) * info_.width};
  }
  // Returns the numbers of row `y`: red, green and blue of its pixels in turn.
  // T must be the type that dtype() says, uint8_t or float; otherwise throws
  // StatusError (kInvalidArgument).
  template <typename T>
  std::span<const T> numbers(uint32_t y) const {
    static_assert(std::is_same_v<T, uint8_t> || std::is_same_v<T, float>);
    CheckDtype(std::is_same_v<T, float> ? Dtype::kFloat32 : Dtype::kUint8);
    return {reinterpret_cast<const T*>(row(y).data()), size_t{3} * width()};
  }

  // The following members describe the picture as an array: [height, width, 3],
  // or [3, height, width] with kNCHW. Strides count elements, not bytes. data()
  // is valid as long as the Frame.
  Dtype dtype() const {
    CheckRgb();
    return info_.dtype;
  }
  const std::byte* data() const {
    CheckRgb();
    return pixels_;
  }
  std::array<size_t, 3> shape() const;
  std::array<size_t, 3> strides() const;

  // See FrameInfo.
  uint64_t index() const { return info_.index; }
  std::optional<int64_t> pts() const { return info_.pts; }
  int64_t duration() const { return info_.duration; }
  double pts_seconds() const { return info_.pts_seconds; }
  double duration_seconds() const { return info_.duration_seconds; }
  bool keyframe() const { return info_.keyframe; }
  bool damaged() const { return info_.damaged; }
  // Returns the device that decoded the frame, such as "openreg:1".
  const std::string& device() const { return *device_; }

  // Returns a copy of the picture in private memory, with packed rows. No
  // worker can change the copy, and it holds no slot.
  Frame Snapshot() const;

  // Returns the picture in a copy-on-write mapping of the slot, for code that
  // may write to pixels although they are const: such a write changes the
  // returned Frame alone. A page that was not written can still change while
  // the worker lives, like the pixels of this Frame. Both Frames hold the slot.
  // The mapping costs a system call and page faults, but no copy.
  // kResourceExhausted if the kernel refuses the mapping. A Frame without a
  // slot returns a Snapshot().
  Result<Frame> MapPrivate() const;

 private:
  void CheckRgb() const {
    if (info_.format == OutputFormat::kRgb) return;
    throw StatusError(Status(Code::kInvalidArgument,
                             "the frame has planes of " + pixel_format() +
                                 ", not pixels of RGB; use planes(), or open "
                                 "the stream with OutputFormat::kRgb"));
  }
  void CheckDtype(Dtype wanted) const {
    if (dtype() == wanted) return;
    throw StatusError(Status(Code::kInvalidArgument,
                             wanted == Dtype::kFloat32
                                 ? "the pixels of the frame are bytes; open "
                                   "the stream with OutputDtype::kFloat32"
                                 : "the pixels of the frame are floats; ask "
                                   "for numbers<float>()"));
  }

  std::shared_ptr<worker_protocol::FrameLease> lease_;
  const std::byte* pixels_;
  FrameInfo info_;
  std::shared_ptr<const std::string> device_;
  std::shared_ptr<const worker_protocol::NativeFormat>
      native_;  // Null for RGB.
};

// Several RGB pictures of one size in one block of memory, without padding
// between rows or pictures. As an array: [N, height, width, 3], or [N, 3,
// height, width] with kNCHW, which is the same memory with other strides.
// Strides count elements, not bytes. The memory belongs to the batch, or to the
// caller who gave it to the call that made the batch.
struct FrameBatch {
  uint32_t width = 0;
  uint32_t height = 0;
  Dtype dtype = Dtype::kUint8;
  DimensionOrder order = DimensionOrder::kNHWC;
  // size() * picture_bytes() bytes; empty if the pixels are in the caller's
  // memory.
  std::vector<std::byte> pixels;
  std::span<std::byte> caller_pixels;    // The memory that the caller gave.
  std::vector<double> pts_seconds;       // [N]
  std::vector<double> duration_seconds;  // [N]

  // Returns N, the number of pictures.
  size_t size() const { return pts_seconds.size(); }
  size_t picture_bytes() const { return 3 * BytesOf(dtype) * width * height; }
  // Returns the pixels of all pictures, wherever they are.
  const std::byte* data() const {
    return caller_pixels.empty() ? pixels.data() : caller_pixels.data();
  }
  // Returns the pixels of picture `i`; requires i < size().
  std::span<const std::byte> picture(size_t i) const {
    return {data() + i * picture_bytes(), picture_bytes()};
  }
  std::array<size_t, 4> shape() const;
  std::array<size_t, 4> strides() const;
};

}  // namespace bulkhead
