// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Where a test finds what it runs. Bazel's runfiles are links, and discovery
// refuses links that leave the plugin directory, so each path is the real one.
// The BUILD file passes $(rootpaths ...) in the environment; a path that
// another main() resolved or copied before is in NAME_DIR and wins.

// From BULKHEAD_TEST_LIBEXEC: the directory with bulkheadd.
std::string LibexecDirectory();

// The directory that holds the distribution whose files the variable lists, so
// one to put on the plugin path. Empty: the test names none.
std::string DistributionDirectory(
    const std::string& variable = "BULKHEAD_TEST_DISTRIBUTION");

// The real path of a file given as $(rootpath ...) in the variable `name`.
std::string PathFromEnvironment(const char* name);

// A copy that anybody may read; build outputs lie where only their builder may
// look. `to` does not exist before.
void CopyForAll(const std::string& from, const std::string& to);

// A directory that only this test writes. Ends without a slash.
std::string TemporaryDirectory();

}  // namespace bulkhead::tests
