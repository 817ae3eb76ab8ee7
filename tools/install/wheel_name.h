// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// What a wheel's file name says: NAME-VERSION(-BUILD)?-PYTHON-ABI-PLATFORM.whl.
// Parts as written; each of the last three may be several tags, "." between.
struct WheelName {
  std::string name;
  std::string version;
  std::string build;
  std::string python;
  std::string abi;
  std::string platform;
};

// kInvalidArgument for anything that is not named so.
Result<WheelName> ParseWheelName(std::string_view file_name_untrusted);

// Whether one of the platform tags is "any" or one of Linux on `machine`
// ("x86_64", as uname says): linux, manylinux or musllinux. kUnsupported says
// what it was built for instead. The Python and ABI tags do not matter: no
// interpreter loads a backend.
Status ValidatePlatform(const WheelName& wheel, std::string_view machine);

}  // namespace bulkhead::install
