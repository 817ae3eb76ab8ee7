// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace bulkhead::discovery {

// The names of Bulkhead's own backends. A caller who names no device, or "cpu",
// means Bulkhead's own backend, so no package may replace it by taking its
// name. A package that claims a reserved name counts as broken, and takes no
// name or device away from others, unless an operator grants the name to it
// (`reserved_name` in core/grants/grants.h).

inline constexpr std::string_view kReservedBackends[] = {"cpu", "openreg"};

inline bool IsReservedBackend(std::string_view name) {
  return std::find(std::begin(kReservedBackends), std::end(kReservedBackends),
                   name) != std::end(kReservedBackends);
}

// Returns a clause that says why a package cannot have the reserved name
// `name`, and what its vendor can do about it.
inline std::string NameIsReserved(const std::string& name) {
  return "the name " + name +
         " is that of a backend that comes with Bulkhead, which no package "
         "takes: the package has to name it otherwise in entry_points.txt";
}

// The default device, which is reserved like a backend's name. A package's
// device of that name is reached as BACKEND/cpu. The device name openreg is not
// reserved: vendors may take it, since callers get that device only if they
// name it.
inline constexpr std::string_view kReservedDevice = "cpu";

}  // namespace bulkhead::discovery
