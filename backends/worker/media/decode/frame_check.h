// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker::decode {

// Checks pictures of a backend before anything reads their planes, since vendor
// code has made the pictures from hostile media.
//
// Fails with kBackendMisbehaved for a picture with contradictory fields, with
// kResourceExhausted above the limit on pixels, and with kUnsupported for a
// picture in the memory of a device. Used by one thread.
class FrameCheck {
 public:
  // A `max_pixels` of 0 means no limit.
  explicit FrameCheck(uint64_t max_pixels) : max_pixels_(max_pixels) {}

  // Returns the pixel format of a valid frame. Does not check planes in a
  // buffer of the runtime for readable memory; BufferProvider::Holds does.
  ipc::Expected<AVPixelFormat> Check(const bulkhead_frame& frame);

 private:
  const uint64_t max_pixels_;
  std::string known_name_;  // the name of known_format_, looked up once
  AVPixelFormat known_format_ = AV_PIX_FMT_NONE;
};

}  // namespace bulkhead::worker::decode
