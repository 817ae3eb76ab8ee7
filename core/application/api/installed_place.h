// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead {

// Returns the libexec directory: the directory with bulkheadd and the programs
// that it starts. The search begins in the directory of the file that contains
// this code, libbulkhead.so or a program. So an installation works in any
// directory, and also after it was moved. The first of these directories that
// contains bulkheadd counts:
//
//   ./bulkhead/libexec
//   ../bulkhead/libexec
//   ../lib/bulkhead/libexec     (for a program linked with libbulkhead.a)
//
// If no directory contains it, and always in a privileged process (AT_SECURE),
// the result is /usr/lib/bulkhead/libexec. The caller of a privileged program
// could have linked the program into a directory with a bulkheadd of its own.
std::string InstalledLibexec();

// Returns the first directory of this list that contains bulkheadd, for code in
// the file `object` (an absolute path). Returns an empty text if there is none.
// For tests.
std::string LibexecBeside(const std::string& object);

}  // namespace bulkhead
