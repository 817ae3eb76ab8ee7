// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Lists the streams that this libavcodec decodes, as the capabilities of a
// device. Each codec for which LibavDecoder finds a decoder has one entry, with
// the formats that the decoder lists, if any. The entries refer to memory of
// this object.
class Capabilities {
 public:
  Capabilities();

  // Fills the fields of `device` that state capabilities.
  void Describe(bulkhead_device* device) const;

 private:
  std::vector<bulkhead_capability> streams_;
  std::deque<std::vector<const char*>> formats_;
};

}  // namespace bulkhead::libav_codec
