// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/picture.h"
#include "backends/worker/media/rgb_converter.h"
#include "backends/worker/media/transform.h"
#include "ipc/error.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::worker {

// The format of frames that the host asks for.
struct OutputFormat {
  // The element type. Empty: floats for a stream with more than 8 bits per
  // component, else bytes.
  std::optional<ipc::ElementType> element = ipc::ElementType::kUint8;
  std::vector<Transform> transforms;
};

struct OutputShape {
  PictureSize size;
  ipc::ElementType element;
};

// Converts decoded pictures to frames of the format that the host asks for:
// upright RGB (RgbConverter) with 8 bits, or with 16 bits for floats; then the
// transforms; then, for floats, each 16-bit number divided by 65535. Floats
// thus keep all of 10 and 12 bits, and equal `ffmpeg -pix_fmt rgb48le` after
// multiplication by 65535.
//
//     OutputConverter converter(matrix, max_pixels, format);
//     auto shape = converter.Prepare(*frame);      // picks the slot's geometry
//     converter.Convert(*frame, slot, stride);
//
// Fails as RgbConverter and TransformChain do. Used by one thread.
class OutputConverter {
 public:
  OutputConverter(const int32_t* stream_matrix_untrusted, uint64_t max_pixels,
                  OutputFormat format);

  // Sets the size of every picture before the transforms, which an earlier
  // worker of the session has found. The element type must be set in this case.
  ipc::Expected<OutputShape> FixSize(PictureSize size);

  // Checks the frame and returns the shape of the result. All results have the
  // shape of the first frame that was prepared.
  ipc::Expected<OutputShape> Prepare(const bulkhead_frame& frame);

  // Converts the frame prepared last into `target`, in rows of `stride` bytes
  // in the layout of ipc::RgbGeometry. May write the spare bytes of a row.
  ipc::Expected<void> Convert(const bulkhead_frame& frame, uint8_t* target,
                              uint32_t stride);

  // Returns whether the frame prepared last already is the result.
  bool IsDeliverable() const;

  // Returns the size of the pictures before the transforms, once it is known.
  PictureSize upright_size() const { return upright_size_; }

 private:
  // Returns the element type that fits the frame prepared last.
  ipc::ElementType ElementByDepth() const;
  ipc::Expected<OutputShape> SetShape(PictureSize upright);

  RgbConverter rgb_;
  const uint64_t max_pixels_;
  const std::optional<ipc::ElementType> wanted_element_;
  TransformChain transforms_;
  PictureSize upright_size_;
  std::optional<OutputShape> shape_;
  ScratchPicture scratch_;
};

}  // namespace bulkhead::worker
