// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead {

// Returns the libexec directory: the directory with bulkheadd and the programs
// that it starts. It is the first of these directories that contains bulkheadd.
// They are relative to the directory of the file that contains this code
// (libbulkhead.so or a program), so an installation can be moved as a whole:
//
//   ./bulkhead/libexec
//   ../bulkhead/libexec
//   ../lib/bulkhead/libexec     (for a program linked with libbulkhead.a)
//
// If no directory contains bulkheadd, the result is /usr/lib/bulkhead/libexec.
// In a privileged process (AT_SECURE), this is always the result: its user
// could have hard-linked the program into a directory with another bulkheadd.
std::string InstalledLibexec();

// Returns the first directory of the list above that contains bulkheadd, if the
// code is in the file `object` (an absolute path). Returns an empty text if
// there is none. Separate for tests.
std::string LibexecBeside(const std::string& object);

}  // namespace bulkhead
