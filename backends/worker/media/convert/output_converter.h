// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/convert/native_converter.h"
#include "backends/worker/media/convert/picture.h"
#include "backends/worker/media/convert/rgb_converter.h"
#include "backends/worker/media/convert/transform.h"
#include "ipc/error.h"
#include "ipc/frame_geometry.h"
#include "ipc/pixel_layout.h"

namespace bulkhead::worker::convert {

// The format of frames that the host asks for.
struct OutputFormat {
  // The element type. nullopt means floats for a stream with more than 8 bits
  // per component, and bytes for other streams.
  std::optional<ipc::ElementType> element = ipc::ElementType::kUint8;
  std::vector<Transform> transforms;
  // If true, all pictures have the size of the first picture, and with `native`
  // also its pixel format. If false, each picture has its own size and format,
  // and there are no transforms.
  bool autoscale = true;
  // If set, the planes are delivered as the decoder makes them, in place of
  // RGB. Element type and transforms are then not used.
  struct Native {
    // The format of the first picture, if an earlier worker has found it.
    std::string known_format;
    // True if decoders may write into the slots. Must be false if damaged
    // pictures are delivered: where a decoder fills no pixels, old contents of
    // the memory show. In private memory, these contents are the same as in the
    // ffmpeg command (BufferProvider); in a slot, they are not.
    bool in_place = true;
  };
  std::optional<Native> native;
};

// The size and layout of a converted picture.
struct OutputShape {
  PictureSize size;
  ipc::ElementType element = ipc::ElementType::kUint8;
  std::string pixel_format;                // empty for RGB
  std::optional<ipc::PixelLayout> native;  // of `pixel_format`
  ipc::FrameGeometry geometry{};           // the layout in a slot
};

// Converts decoded pictures to frames of the format that the host asks for.
// Native frames are the planes as they are (NativeConverter). Other frames are
// made in three steps: upright RGB (RgbConverter) with 8 bits, or with 16 bits
// for floats; then the transforms; then, for floats, a division of each 16-bit
// number by 65535. Floats thus keep all of 10 and 12 bits, and equal `ffmpeg
// -pix_fmt rgb48le` after multiplication by 65535.
//
//     OutputConverter converter(matrix, max_pixels, format);
//     auto shape = converter.Prepare(*frame);      // picks the slot's geometry
//     converter.Convert(*frame, slot, geometry);
//
// Fails as NativeConverter, RgbConverter and TransformChain do. Used by one
// thread.
class OutputConverter {
 public:
  OutputConverter(const int32_t* stream_matrix_untrusted, uint64_t max_pixels,
                  OutputFormat format);

  // Sets the size of every picture before the transforms, which the host knows
  // from an earlier worker of the session. Requires OutputFormat::element, or
  // for native pictures Native::known_format.
  ipc::Expected<OutputShape> FixSize(PictureSize size);

  // Checks the frame and returns the shape of the result. With autoscale, all
  // results have the shape of the first frame that was prepared.
  ipc::Expected<OutputShape> Prepare(const bulkhead_frame& frame);
  // Returns the latest shape; requires FixSize() or Prepare().
  const OutputShape& shape() const { return *shape_; }

  // Converts the frame prepared last into `slot`, which has the `geometry` of
  // the shape. May also write the padding after rows and planes.
  ipc::Expected<void> Convert(const bulkhead_frame& frame, uint8_t* slot,
                              const ipc::FrameGeometry& geometry);

  // Returns whether the frame prepared last needs no conversion.
  bool IsDeliverable() const;
  // Returns the pixel format of pictures that a decoder may write into slots;
  // AV_PIX_FMT_NONE if it may write none.
  AVPixelFormat slot_format() const;

  // Returns the size of the latest picture before the transforms.
  PictureSize upright_size() const { return upright_size_; }

 private:
  // Returns the element type that fits the frame prepared last.
  ipc::ElementType ElementByDepth() const;
  // SetShape and SetNativeShape set shape_ and upright_size_: for RGB, from the
  // size before the transforms; for native pictures, from their shape.
  ipc::Expected<OutputShape> SetShape(PictureSize upright);

  // Converts the frame prepared last to RGB.
  ipc::Expected<void> ConvertToRgb(const bulkhead_frame& frame, uint8_t* target,
                                   uint32_t stride);
  ipc::Expected<OutputShape> SetNativeShape(
      const NativeConverter::Shape& shape);

  const std::optional<OutputFormat::Native> native_;
  RgbConverter rgb_;
  NativeConverter planes_;  // used in place of rgb_ if native_ is set
  const uint64_t max_pixels_;
  const std::optional<ipc::ElementType> wanted_element_;
  TransformChain transforms_;
  PictureSize upright_size_;
  std::optional<OutputShape> shape_;
  ScratchPicture scratch_;
};

}  // namespace bulkhead::worker::convert
