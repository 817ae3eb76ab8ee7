// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// The parts of a wheel's file name,
// NAME-VERSION(-BUILD)?-PYTHON-ABI-PLATFORM.whl, as written. Each of the last
// three may be several tags with "." between.
struct WheelName {
  std::string name;
  std::string version;
  std::string build;
  std::string python;
  std::string abi;
  std::string platform;
};

// Parses a file name. Returns kInvalidArgument if it has another form.
Result<WheelName> ParseWheelName(std::string_view file_name_untrusted);

// Checks that one of the platform tags is "any", or a tag of Linux (linux,
// manylinux or musllinux) for `machine`, which is "x86_64" or another name from
// uname. Otherwise returns kUnsupported with the platform of the wheel. Ignores
// the Python and ABI tags, since no interpreter loads a backend.
Status ValidatePlatform(const WheelName& wheel, std::string_view machine);

}  // namespace bulkhead::install
