// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead::grants {

// A family of ioctls that a backend can be granted: the ioctls of one kind of
// driver. Bits 8 to 15 of a request are its type, which each driver chose for
// itself. The type is all that a seccomp filter can check, since the filter
// does not see which file a descriptor refers to. The reach of an ioctl is
// limited by the descriptors that the backend has: the granted devices, and the
// descriptors that the worker was given.
//
// The type of terminals ('T', with TIOCSTI) is in no family.
struct IoctlFamily {
  std::string_view name;
  std::span<const uint8_t> types;
  std::string_view purpose;
};

// Returns all families, in order of their names.
std::span<const IoctlFamily> IoctlFamilies();
// Returns the family of that name, or null.
const IoctlFamily* FindIoctlFamily(std::string_view name);
// Returns "drm, v4l2, ...".
std::string IoctlFamilyNames();

}  // namespace bulkhead::grants
