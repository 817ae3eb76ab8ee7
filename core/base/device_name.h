// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// How a caller names a device: "cpu", "openreg:1", or, where two backends have
// a device of one name, "BACKEND/openreg:1".
struct DeviceName {
  std::string backend;  // Empty: whichever has the device.
  std::string name;
  std::optional<uint32_t> index;

  std::string ToString() const;
  bool operator==(const DeviceName&) const = default;
};

// The name of a backend or a device: letters, digits, "_", "-" and ".", at
// most 64, not beginning with "." or "-" (it is used in paths and options).
bool IsPlainName(std::string_view text_untrusted);

// kInvalidArgument, naming `text_untrusted`, for anything else. An index is
// decimal, without leading zeros, at most 65535.
Result<DeviceName> ParseDeviceName(std::string_view text_untrusted);

}  // namespace bulkhead::discovery
