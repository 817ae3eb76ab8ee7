// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/plugin.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::worker {
namespace {

// Returns the path of one of the shared objects in tests/children.
std::string Object(const std::string& name) {
  std::istringstream words(std::getenv("BAD_PLUGINS"));
  for (std::string word; words >> word;) {
    if (word.ends_with("/" + name)) return word;
  }
  ADD_FAILURE() << "there is no " << name;
  return "";
}

void ExpectRefused(const std::string& path, const std::string& symbol,
                   const std::string& cause) {
  const auto backend = LoadPlugin(path, symbol);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ipc::Code::kBackendUnavailable);
  EXPECT_NE(backend.error().message.find(cause), std::string::npos)
      << backend.error().message;
}

std::string BadPlugin() { return Object("libbad_plugin.so"); }

TEST(LoadPluginTest, GivesTheTableOfAGoodOne) {
  const auto backend = LoadPlugin(BadPlugin(), "good");
  ASSERT_TRUE(backend) << backend.error().message;
  EXPECT_STREQ((*backend)->name, "good");
}

TEST(CheckIsObjectTest, OnlyTheOpenedFilePasses) {
  const std::string path = ::testing::TempDir() + "/libobject.so";
  std::ofstream(path) << "one";
  const ipc::UniqueFd object(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(object);
  EXPECT_TRUE(CheckIsObject(path, object.get()));
  // The old file is not removed first, since the new one could get its inode.
  std::ofstream(path + ".new") << "two";
  ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
  const auto other = CheckIsObject(path, object.get());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("was replaced"), std::string::npos);
  EXPECT_FALSE(CheckIsObject("/no/such/libacme.so", object.get()));
}

TEST(LoadPluginTest, OfAMissingFileNamesIt) {
  ExpectRefused("/no/such/libacme.so", "acme", "/no/such/libacme.so");
}

TEST(LoadPluginTest, OfWhatIsNoObjectSaysSo) {
  const std::string path = ::testing::TempDir() + "/libtext.so";
  std::ofstream(path) << "not an object";
  ExpectRefused(path, "acme", path);
}

TEST(LoadPluginTest, OfAMissingEntryFunctionNamesIt) {
  ExpectRefused(BadPlugin(), "no_such_entry", "no_such_entry");
}

TEST(LoadPluginTest, OfAMissingLibraryNamesIt) {
  ExpectRefused(Object("libneeds_missing_library.so"), "entry",
                "libmissing_on_purpose.so");
}

TEST(LoadPluginTest, OfAnUnresolvedSymbolNamesIt) {
  ExpectRefused(Object("libneeds_missing_symbol.so"), "entry",
                "function_that_nobody_has");
}

TEST(LoadPluginTest, OfNoTableSaysSo) {
  ExpectRefused(BadPlugin(), "null_table", "no table");
}

TEST(LoadPluginTest, OfAnotherAbiVersionNamesBoth) {
  ExpectRefused(BadPlugin(), "other_abi", "ABI version 77");
}

TEST(LoadPluginTest, OfATableWithHolesSaysSo) {
  ExpectRefused(BadPlugin(), "table_with_holes", "leaves functions out");
}

TEST(LoadPluginTest, OfATableThatIsTooSmallSaysSo) {
  ExpectRefused(BadPlugin(), "small_table", "leaves functions out");
  ExpectRefused(BadPlugin(), "empty_table", "");
}

TEST(LoadPluginTest, ATableOfALaterReleaseIsTaken) {
  EXPECT_TRUE(LoadPlugin(BadPlugin(), "larger_table"));
}

TEST(LoadPluginTest, OfAnEntryFunctionThatThrowsSaysWhat) {
  ExpectRefused(BadPlugin(), "throws_exception", "no licence");
  ExpectRefused(BadPlugin(), "throws_number", "throws_number");
}

}  // namespace
}  // namespace bulkhead::worker
