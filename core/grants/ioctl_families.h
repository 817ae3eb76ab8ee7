// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead::sandbox {

// The ioctls that a backend can be granted, by the kind of driver that takes
// them. A request's bits 8 to 15 are its type, which each driver chose for its
// own; that is all of a request that a seccomp filter can tell, since it does
// not see what a descriptor is. What an ioctl can reach is limited by the
// descriptors: those of granted devices, and those that the worker was given.
//
// The terminal's type ('T', with TIOCSTI) is in no family.
struct IoctlFamily {
  std::string_view name;
  std::span<const uint8_t> types;
  std::string_view purpose;
};

std::span<const IoctlFamily> IoctlFamilies();
// Null: there is none of that name.
const IoctlFamily* FindIoctlFamily(std::string_view name);
// "drm, v4l2, ..."
std::string IoctlFamilyNames();

}  // namespace bulkhead::sandbox
