// SPDX-License-Identifier: Apache-2.0
#include "ipc/error.h"

#include <string.h>

namespace bulkhead::ipc {

tl::unexpected<Error> FailErrno(Code code, std::string message, int error) {
  // strerrordesc_np() is used since strerror() is not thread-safe.
  // std::generic_category() calls a virtual function, for which the
  // undefined-behaviour sanitizer opens a pipe; it reports an error if no
  // descriptor is left.
  const char* const description = strerrordesc_np(error);
  return Fail(code,
              std::move(message) + ": " +
                  (description != nullptr ? std::string(description)
                                          : "error " + std::to_string(error)));
}

}  // namespace bulkhead::ipc
