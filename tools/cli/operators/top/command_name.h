// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

namespace bulkhead::cli::top {

// Returns "restart", "reload", "disable" or "enable". Static storage.
const char* NameOf(BackendCommand command);

}  // namespace bulkhead::cli::top
