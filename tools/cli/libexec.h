// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::cli {

// Returns the directory of the programs that libbulkhead starts (bulkheadd and
// others). The first of these counts: `chosen`; BULKHEAD_LIBEXEC_DIR, which the
// library reads itself; `../dist/libexec` beside this program, where a build
// leaves them; the library's default. An empty result means that the library
// decides, by the variable or its default.
std::string FindLibexec(const std::string& chosen);

}  // namespace bulkhead::cli
