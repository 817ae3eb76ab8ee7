// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead::grants {

// A family of ioctls that a backend can be granted: the ioctls of one kind of
// driver. A seccomp filter recognises them by their type, which is in bits 8 to
// 15 of a request; each driver chose a type for itself. The filter cannot check
// the device, since it does not see which file a descriptor refers to. But a
// backend can use an ioctl only on descriptors that it has: the granted
// devices, and the descriptors that the worker was given.
//
// No family has the type of terminals ('T'), whose TIOCSTI could type commands.
struct IoctlFamily {
  std::string_view name;
  std::span<const uint8_t> types;
};

// Returns the family of that name, or null.
const IoctlFamily* FindIoctlFamily(std::string_view name);
// Returns "drm, v4l2, ...".
std::string IoctlFamilyNames();

}  // namespace bulkhead::grants
