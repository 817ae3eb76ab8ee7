// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::worker {

// Streams that a device declares it decodes. Capabilities that differ only in
// codec or profile are one entry: a device of libavcodec has hundreds of
// codecs, and a control message has 64 KiB.
struct DeclaredStreams {
  uint32_t kind = BULKHEAD_STREAM_VIDEO;
  std::vector<std::string> codecs;
  std::vector<std::string> profiles;  // FFmpeg's names; empty: all
  std::vector<std::string> formats;
  uint32_t max_width = 0;
  uint32_t max_height = 0;

  bool operator==(const DeclaredStreams&) const = default;
};

// A device as the backend emitted it, copied.
struct EmittedDevice {
  std::string name;
  std::string description;
  std::vector<DeclaredStreams> streams;
  uint32_t max_sessions = 0;
  uint32_t outputs = 0;
};

EmittedDevice CopyDevice(const bulkhead_device& device);
// `before` is the device before it in the list, or null: devices of one kind
// decode the same, which is said once.
void Write(const EmittedDevice& device, const EmittedDevice* before,
           ipc::schema::Device::Builder out);

}  // namespace bulkhead::worker
