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

// What the host wants its frames to be.
struct OutputFormat {
  // Empty: floats for a stream whose components have more than 8 bits.
  std::optional<ipc::ElementType> element = ipc::ElementType::kUint8;
  std::vector<Transform> transforms;
};

struct OutputShape {
  PictureSize size;
  ipc::ElementType element;
};

// Decoded pictures to frames as the host wants them: upright RGB (RgbConverter)
// of 8 bits, or of 16 where floats are wanted, then the transforms, then each
// 16-bit number divided by 65535. So floats hold all of 10 and 12 bits, and
// times 65535 they are what `ffmpeg -pix_fmt rgb48le` gives.
//
//     OutputConverter converter(matrix, max_pixels, format);
//     auto shape = converter.Prepare(*frame);      // picks the slot's geometry
//     converter.Convert(*frame, slot, stride);
//
// Failures are those of its parts. One thread.
class OutputConverter {
 public:
  OutputConverter(const int32_t* stream_matrix_untrusted, uint64_t max_pixels,
                  OutputFormat format);

  // Makes this the size of every picture before its transforms, as another
  // converter has found it. The element type must not be left open then.
  ipc::Expected<OutputShape> FixSize(PictureSize size);

  // Checks the frame and returns the shape of the result, which is that of the
  // first frame that was prepared.
  ipc::Expected<OutputShape> Prepare(const bulkhead_frame& frame);

  // Converts the frame prepared last. `target` takes rows of `stride` bytes in
  // the layout of ipc::RgbGeometry, spare bytes included.
  ipc::Expected<void> Convert(const bulkhead_frame& frame, uint8_t* target,
                              uint32_t stride);

  // Whether the frame prepared last already is the result.
  bool IsDeliverable() const;

  // Of the pictures before their transforms, once the shape is known.
  PictureSize upright_size() const { return upright_size_; }

 private:
  // Of the frame prepared last.
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
