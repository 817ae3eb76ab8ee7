// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// The name with which a caller chooses a device: "cpu", "openreg:1" or, if two
// backends have a device of the same name, "BACKEND/openreg:1".
struct DeviceName {
  std::string backend;  // Empty: any backend.
  std::string name;     // "openreg"
  std::optional<uint32_t> index;

  std::string ToString() const;
  bool operator==(const DeviceName&) const = default;
};

// Returns whether `text_untrusted` can name a backend or a device: 1 to 64
// letters, digits, "_", "-" and ".", not beginning with "." or "-", because
// names are used in paths and options.
bool IsPlainName(std::string_view text_untrusted);

// Parses a device name. An index is decimal, without leading zeros, at most
// 65535. Returns kInvalidArgument for any other text; the message quotes the
// text.
Result<DeviceName> ParseDeviceName(std::string_view text_untrusted);

}  // namespace bulkhead
