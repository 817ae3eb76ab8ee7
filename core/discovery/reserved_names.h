// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace bulkhead::discovery {

// The names of Bulkhead's own backends. A caller who names no device, or "cpu",
// means Bulkhead's own: no package becomes that by calling itself so. A package
// that claims a reserved name is broken and keeps no name from anybody, unless
// an operator grants the name to it (`reserved_name` in core/grants/grants.h).

inline constexpr std::string_view kReservedBackends[] = {"cpu", "openreg"};

inline bool IsReservedBackend(std::string_view name) {
  return std::find(std::begin(kReservedBackends), std::end(kReservedBackends),
                   name) != std::end(kReservedBackends);
}

// Returns why a package cannot have the reserved name `name`, and what its
// vendor does about it, as a clause.
inline std::string NameIsReserved(const std::string& name) {
  return "the name " + name +
         " is that of a backend that comes with Bulkhead, which no package "
         "takes: the package has to name it otherwise in entry_points.txt";
}

// The default device. Other packages' devices of that name are reached as
// BACKEND/cpu. The devices of the backend openreg are not reserved: vendors
// take over the name, and nobody means them without saying so.
inline constexpr std::string_view kReservedDevice = "cpu";

}  // namespace bulkhead::discovery
