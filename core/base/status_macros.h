// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/include/bulkhead/status.h"

// RETURN_IF_ERROR and ASSIGN_OR_RETURN return a failure to the caller. For use
// in functions that return Status or Result<T>. Internal: no public header
// includes this file.
//
//   RETURN_IF_ERROR(ValidateName(name));
//   ASSIGN_OR_RETURN(const ipc::UniqueFd fd, OpenPlugin(name));
//
// The preprocessor splits a declaration at a comma outside of parentheses, as
// in std::map<K, V>. Give such a type a name first.
#define RETURN_IF_ERROR(expression)                             \
  do {                                                          \
    if (::bulkhead::Status status_of_expression = (expression); \
        !status_of_expression.ok()) {                           \
      return status_of_expression;                              \
    }                                                           \
  } while (false)

#define ASSIGN_OR_RETURN(declaration, expression) \
  BULKHEAD_ASSIGN_OR_RETURN_AT(__LINE__, declaration, expression)

#define BULKHEAD_ASSIGN_OR_RETURN_AT(line, declaration, expression) \
  BULKHEAD_ASSIGN_OR_RETURN(line, declaration, expression)
#define BULKHEAD_ASSIGN_OR_RETURN(line, declaration, expression) \
  auto result_of_line_##line = (expression);                     \
  if (!result_of_line_##line) {                                  \
    return std::move(result_of_line_##line).error();             \
  }                                                              \
  declaration = *std::move(result_of_line_##line)
