// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <array>
#include <cstddef>

namespace bulkhead::cli::top {

// Returns "restart", "reload", "disable" or "enable". Static storage.
inline const char* NameOf(BackendCommand command) {
  constexpr std::array kNames = {"restart", "reload", "disable", "enable"};
  return kNames.at(static_cast<size_t>(command));
}

}  // namespace bulkhead::cli::top
