// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/installed_place.h"

#include <gtest/gtest.h>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead {
namespace {

TEST(LibexecBesideTest, FindsTheProgramsOfEachLayout) {
  const TemporaryTree tree;
  tree.Write("prefix/lib/bulkhead/libexec/bulkheadd", "");
  const std::string libexec = tree.path() + "/prefix/lib/bulkhead/libexec";
  for (const char* object :
       {"prefix/lib/libbulkhead.so.0",
        "prefix/lib/x86_64-linux-gnu/libbulkhead.so.0", "prefix/bin/program"}) {
    EXPECT_EQ(LibexecBeside(tree.path() + "/" + object), libexec) << object;
  }
}

TEST(LibexecBesideTest, FindsNothingInOtherDirectories) {
  const TemporaryTree tree;
  tree.Write("prefix/lib/bulkhead/libexec/bulkhead-worker", "");
  tree.Write("other/lib/bulkhead/libexec/bulkheadd", "");
  EXPECT_EQ(LibexecBeside(tree.path() + "/prefix/lib/libbulkhead.so.0"), "");
  EXPECT_EQ(LibexecBeside(tree.path() + "/other/a/b/program"), "");
}

}  // namespace
}  // namespace bulkhead
