// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/plugin_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

TEST(PluginFileTest, FindsTheObjectUnderBothNames) {
  const TemporaryTree tree;
  tree.Write("acme/deep/libplugin.so", "a");
  tree.Write("acme/deep/plugin.so", "b");
  tree.Write("acme/other.so", "c");
  tree.Write("libtop.so", "d");
  const ipc::UniqueFd directory = tree.Open();
  const auto path = [&](const char* module) {
    return OpenPluginFile(directory.get(), module).value().path;
  };
  EXPECT_EQ(path("acme.deep.plugin"), "acme/deep/libplugin.so");
  EXPECT_EQ(path("acme.other"), "acme/other.so");
  EXPECT_EQ(path("top"), "libtop.so");
}

TEST(PluginFileTest, NothingElseIsOpened) {
  const TemporaryTree tree;
  tree.Write("acme/folder.so/x", "");
  ASSERT_EQ(mkfifo((tree / "acme/fifo.so").c_str(), 0600), 0);
  std::filesystem::create_symlink("/lib/x86_64-linux-gnu/libc.so.6",
                                  tree / "acme/out.so");
  const ipc::UniqueFd directory = tree.Open();
  const auto code = [&](const char* module) {
    return OpenPluginFile(directory.get(), module).error().code();
  };
  EXPECT_EQ(code("acme.missing"), Code::kNotFound);
  EXPECT_EQ(code("acme.folder"), Code::kUnsupported);
  EXPECT_EQ(code("acme.fifo"), Code::kUnsupported);
  EXPECT_EQ(code("acme.out"), Code::kInvalidArgument);
}

}  // namespace
}  // namespace bulkhead::discovery
