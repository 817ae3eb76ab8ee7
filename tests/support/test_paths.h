// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Finds the built files that a test uses. The BUILD file passes $(rootpaths
// ...) in environment variables: see tests/bulkhead_test.bzl. Bazel's runfiles
// are symbolic links, and discovery refuses links that leave the plugin
// directory. These functions therefore return real paths.
//
// A variable NAME_DIR takes precedence over the variable NAME. A main function
// that copies the files (tests/support/ordinary_user_main.cc) sets it.

// Returns the directory with bulkheadd, from BULKHEAD_TEST_LIBEXEC.
std::string LibexecDirectory();

// Returns the directory to put on the plugin path: it holds the distribution
// whose files `variable` lists. Returns an empty string if the variable is not
// set.
std::string DistributionDirectory(
    const std::string& variable = "BULKHEAD_TEST_DISTRIBUTION");

// Returns the real path of the file that the variable `name` gives as
// $(rootpath ...).
std::string PathFromEnvironment(const char* name);

// Copies a file or directory so that every user may read the copy. Build
// outputs lie in directories that only their builder may read. `to` must not
// exist.
void CopyForAll(const std::string& from, const std::string& to);

// Writes a grants.toml with which any object may be called as Bulkhead's own
// backends are, and returns its path. A test of cpu or openreg as a
// distribution of its own needs it.
std::string GrantsOfReservedNames();

// Returns a directory that only this test writes, without a slash at the end.
std::string TemporaryDirectory();

}  // namespace bulkhead::tests
