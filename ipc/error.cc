// SPDX-License-Identifier: Apache-2.0
#include "ipc/error.h"

#include <system_error>

namespace bulkhead::ipc {

tl::unexpected<Error> FailErrno(Code code, std::string message, int error) {
  // strerror() is not thread-safe; generic_category() is.
  return Fail(
      code, std::move(message) + ": " + std::generic_category().message(error));
}

}  // namespace bulkhead::ipc
