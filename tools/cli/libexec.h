// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::cli {

// Returns the directory of the programs that libbulkhead starts (bulkheadd and
// others), as HostOptions::libexec_dir takes it. The first of these applies:
// - `chosen`, if it is not empty
// - "", if BULKHEAD_LIBEXEC_DIR is set: the library reads the variable itself
// - `../dist/libexec`, seen from the directory of this program, if a build has
//   left bulkheadd there
// - "", which means the library's default
std::string FindLibexec(const std::string& chosen);

}  // namespace bulkhead::cli
