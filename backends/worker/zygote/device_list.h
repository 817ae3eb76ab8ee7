// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::worker::zygote {

// A group of capabilities (bulkhead_capability) of a device. Capabilities that
// differ only in codec or only in profile become one group, so that the list of
// devices fits in a control message of 64 KiB: a device of libavcodec has
// hundreds of codecs.
struct DeclaredStreams {
  uint32_t kind = BULKHEAD_STREAM_VIDEO;
  std::vector<std::string> codecs;
  std::vector<std::string> profiles;  // FFmpeg's names; empty means all
  std::vector<std::string> formats;
  uint32_t max_width = 0;  // in pixels; 0 means no limit
  uint32_t max_height = 0;

  bool operator==(const DeclaredStreams&) const = default;
};

// A copy of a device that the backend emitted from enumerate_devices(), with
// its capabilities in groups.
struct EmittedDevice {
  std::string name;
  std::string description;
  std::vector<DeclaredStreams> streams;
  uint32_t max_sessions = 0;  // 0 means no limit
  uint32_t outputs = 0;       // bits of BULKHEAD_OUTPUT_*
};

EmittedDevice CopyDevice(const bulkhead_device& device);
// Writes `device` to `out`, its element of the message's list. `before` is the
// previous device of the list, or null for the first. If both decode the same
// streams, sets Capabilities.asBefore and leaves the streams out.
void Write(const EmittedDevice& device, const EmittedDevice* before,
           ipc::schema::Device::Builder out);

}  // namespace bulkhead::worker::zygote
