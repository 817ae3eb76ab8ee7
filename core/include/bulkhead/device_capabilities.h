// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead {

// A kind of streams that a device says it decodes.
struct StreamCapability {
  std::string kind = {};  // "video" or "audio".
  std::vector<std::string> codecs = {};
  std::vector<std::string> profiles = {};  // FFmpeg's names; empty: all.
  // The pixel or sample formats that the device's decoder outputs, before any
  // conversion; empty: not declared.
  std::vector<std::string> formats = {};
  uint32_t max_width = 0;  // 0: the device has no limit of its own.
  uint32_t max_height = 0;

  bool operator==(const StreamCapability&) const = default;
};

// The abilities of a device, as its backend declares them. Before the backend
// has run, these are only the codecs that its bulkhead.toml lists.
struct DeviceCapabilities {
  // The only streams that the device decodes. Empty: the device does not say
  // what it decodes.
  std::vector<StreamCapability> streams = {};
  uint32_t max_sessions = 0;  // Open at the same time; 0: no limit.
  // The memory to which the device decodes frames: "own-memory" is its own,
  // "runtime-buffers" is Bulkhead's (no copy). Empty: not declared.
  std::vector<std::string> outputs = {};

  bool operator==(const DeviceCapabilities&) const = default;
};

}  // namespace bulkhead
