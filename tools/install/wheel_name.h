// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// The parts of a wheel's file name,
// NAME-VERSION(-BUILD)?-PYTHON-ABI-PLATFORM.whl, as written. Each of the last
// three parts is a tag, or several tags separated by ".".
struct WheelName {
  std::string name;
  std::string version;
  std::string build;
  std::string python;
  std::string abi;
  std::string platform;
};

// Parses a file name without folders. Returns kInvalidArgument if it is not a
// wheel's name.
Result<WheelName> ParseWheelName(std::string_view file_name_untrusted);

// Checks that one of the platform tags is "any", or a Linux tag (linux,
// manylinux or musllinux) for `machine`, a name from uname such as "x86_64". If
// none is, returns kUnsupported with the platform of the wheel. The Python and
// ABI tags are ignored, since no interpreter loads a backend.
Status ValidatePlatform(const WheelName& wheel, std::string_view machine);

}  // namespace bulkhead::install
