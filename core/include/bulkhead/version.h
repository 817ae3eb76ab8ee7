// SPDX-License-Identifier: Apache-2.0
#pragma once

// The version of these headers, by https://semver.org. Before 1.0, a change of
// the second number may change the API and the ABI, and then changes the soname
// of libbulkhead.so as well. See core/include/STABILITY.md.
#define BULKHEAD_VERSION_MAJOR 0
#define BULKHEAD_VERSION_MINOR 1
#define BULKHEAD_VERSION_PATCH 0
#define BULKHEAD_VERSION "0.1.0"

namespace bulkhead {

// Returns the version of the library that the program runs with, such as
// "0.1.0". It can differ from BULKHEAD_VERSION if the program was compiled with
// other headers. The string has static storage.
const char* LibraryVersion();

}  // namespace bulkhead
