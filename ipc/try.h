// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>
#include <utility>

// IPC_TRY and IPC_ASSIGN_OR_RETURN return the failure of an expression to the
// caller. They are for functions that return ipc::Expected<T>. Core's
// counterpart for Status is core/base/status_macros.h.
//
//   IPC_TRY(socket.Send(message));
//   IPC_ASSIGN_OR_RETURN(const size_t bytes, file.Size());
//
// IPC_TRY drops the value of a success. IPC_ASSIGN_OR_RETURN expands to several
// statements, so in the branch of an `if` it needs braces. The preprocessor
// splits a declaration at a comma outside parentheses; give such a type a name
// first.
#define IPC_TRY(expression)                                   \
  do {                                                        \
    if (auto tried_result = (expression); !tried_result) {    \
      return tl::unexpected(std::move(tried_result).error()); \
    }                                                         \
  } while (false)

#define IPC_ASSIGN_OR_RETURN(declaration, expression) \
  BULKHEAD_IPC_ASSIGN_OR_RETURN_AT(__LINE__, declaration, expression)

#define BULKHEAD_IPC_ASSIGN_OR_RETURN_AT(line, declaration, expression) \
  BULKHEAD_IPC_ASSIGN_OR_RETURN(line, declaration, expression)
#define BULKHEAD_IPC_ASSIGN_OR_RETURN(line, declaration, expression) \
  auto tried_on_line_##line = (expression);                          \
  if (!tried_on_line_##line) {                                       \
    return tl::unexpected(std::move(tried_on_line_##line).error());  \
  }                                                                  \
  declaration = *std::move(tried_on_line_##line)
