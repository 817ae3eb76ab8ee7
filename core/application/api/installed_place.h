// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead {

// Finds the programs of Bulkhead beside the library that asks for them, so that
// an installation works in any directory and after it was moved: in
// `bulkhead/libexec` beside libbulkhead.so or one directory above it, or, for a
// program that was linked with libbulkhead.a, in `../lib/bulkhead/libexec` seen
// from the program's directory. A directory counts if it has bulkheadd.
//
// Returns /usr/lib/bulkhead/libexec if there is no such directory, and in a
// privileged process (AT_SECURE), whose caller could have linked the program
// into a directory of his choice.
std::string InstalledLibexec();

// Returns the directory that InstalledLibexec() finds for code in `object`, an
// absolute path, or an empty text. For tests.
std::string LibexecBeside(const std::string& object);

}  // namespace bulkhead
