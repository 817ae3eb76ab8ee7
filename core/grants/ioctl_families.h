// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead::grants {

// A family of ioctls that a backend can be granted: the ioctls of one kind of
// driver. They are recognised by their types, which are bits 8 to 15 of a
// request; each driver chose a type for itself. A seccomp filter can check no
// more, since it does not see which file a descriptor refers to. But an ioctl
// only reaches the descriptors that the backend has: the granted devices, and
// the descriptors that the worker was given.
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
