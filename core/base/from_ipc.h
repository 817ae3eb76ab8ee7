// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/error.h"

namespace bulkhead {

// Converts errors of ipc/, which the public headers do not include, to a Code,
// Status or Result. Both enumerations have the same values. A value outside of
// them, which a hostile peer may send, becomes kInternal.

inline Code FromIpc(ipc::Code code) {
  static_assert(static_cast<int>(Code::kInvalidArgument) ==
                static_cast<int>(ipc::Code::kInvalidArgument));
  static_assert(static_cast<int>(Code::kBackendUnavailable) ==
                static_cast<int>(ipc::Code::kBackendUnavailable));
  static_assert(static_cast<int>(Code::kCancelled) ==
                static_cast<int>(ipc::Code::kCancelled));
  return code > ipc::Code::kCancelled ? Code::kInternal
                                      : static_cast<Code>(code);
}

inline Status FromIpc(ipc::Error error) {
  return Status(FromIpc(error.code), std::move(error.message));
}

inline Status FromIpc(ipc::Expected<void> expected) {
  return expected ? Status() : FromIpc(std::move(expected).error());
}

template <typename T>
requires(!std::is_void_v<T>) Result<T> FromIpc(ipc::Expected<T> expected) {
  if (!expected) return FromIpc(std::move(expected).error());
  return *std::move(expected);
}

}  // namespace bulkhead
