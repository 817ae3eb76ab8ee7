// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead {

// Streams that a device says it decodes.
struct StreamCapability {
  std::string kind = {};  // "video" or "audio".
  std::vector<std::string> codecs = {};
  std::vector<std::string> profiles = {};  // FFmpeg's names; empty: all.
  // The pixel or sample formats of its frames before conversion; empty: not
  // declared.
  std::vector<std::string> formats = {};
  uint32_t max_width = 0;  // 0: the device has no limit of its own.
  uint32_t max_height = 0;

  bool operator==(const StreamCapability&) const = default;
};

// The abilities of a device, in the backend's words. Before the backend has
// run, only the codecs that its bulkhead.toml lists.
struct DeviceCapabilities {
  // The device decodes nothing else. Empty: it does not say what it decodes.
  std::vector<StreamCapability> streams = {};
  uint32_t max_sessions = 0;  // At once; 0: no limit.
  // Where its frames come to lie: "own-memory", "runtime-buffers". Empty: not
  // declared.
  std::vector<std::string> outputs = {};

  bool operator==(const DeviceCapabilities&) const = default;
};

}  // namespace bulkhead
