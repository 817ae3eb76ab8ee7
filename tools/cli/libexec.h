// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::cli {

// Where the programs are that libbulkhead starts. In this order: `chosen`;
// BULKHEAD_LIBEXEC_DIR, which the library reads itself; `../dist/libexec`
// beside this program, which is where a build leaves them; the library's own
// default. Empty means that the library decides.
std::string FindLibexec(const std::string& chosen);

// The same, with the library's decision spelled out, for `doctor`.
std::string DescribeLibexec(const std::string& chosen);

}  // namespace bulkhead::cli
