// SPDX-License-Identifier: Apache-2.0
#include "ipc/error.h"

#include <string.h>

namespace bulkhead::ipc {

tl::unexpected<Error> FailErrno(Code code, std::string message, int error) {
  // strerror() is not thread-safe; strerrordesc_np() is. generic_category() has
  // a virtual function: the undefined-behaviour sanitizer opens a pipe to look
  // at its table, and reports an error where no descriptor is left.
  const char* const description = strerrordesc_np(error);
  return Fail(code,
              std::move(message) + ": " +
                  (description != nullptr ? std::string(description)
                                          : "error " + std::to_string(error)));
}

}  // namespace bulkhead::ipc
