// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::zygote {
namespace {

namespace fs = std::filesystem;

// Returns the path of one of the shared objects in tests/children.
std::string Object(const std::string& name) {
  std::istringstream words(std::getenv("BAD_PLUGINS"));
  for (std::string word; words >> word;) {
    if (word.ends_with("/" + name)) return word;
  }
  ADD_FAILURE() << "there is no " << name;
  return "";
}

// Loads the file that lies at `path` now.
ipc::Expected<const bulkhead_backend*> Load(const std::string& path,
                                            const std::string& symbol) {
  const ipc::UniqueFd object(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return LoadPlugin(path, object.get(), symbol);
}

void ExpectRefused(const ipc::Expected<const bulkhead_backend*>& backend,
                   const std::string& cause) {
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ipc::Code::kBackendUnavailable);
  EXPECT_NE(backend.error().message.find(cause), std::string::npos)
      << backend.error().message;
}

void ExpectRefused(const std::string& path, const std::string& symbol,
                   const std::string& cause) {
  ExpectRefused(Load(path, symbol), cause);
}

std::string BadPlugin() { return Object("libbad_plugin.so"); }

// Returns the name of the object that holds the function, as a crash note has
// it.
std::string NameOfObjectWith(const void* function) {
  Dl_info info = {};
  return ::dladdr(function, &info) != 0 ? info.dli_fname : "";
}

TEST(LoadPluginTest, GivesTheTableOfAGoodOne) {
  const auto backend = Load(BadPlugin(), "good");
  ASSERT_TRUE(backend) << backend.error().message;
  EXPECT_STREQ((*backend)->name, "good");
}

TEST(LoadPluginTest, OfAFileThatReplacedTheOpenedOneIsRefused) {
  const std::string path = ::testing::TempDir() + "/libobject.so";
  std::ofstream(path) << "one";
  const ipc::UniqueFd object(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(object);
  // The old file is not removed first, since the new one could get its inode.
  fs::copy_file(BadPlugin(), path + ".new",
                fs::copy_options::overwrite_existing);
  fs::rename(path + ".new", path);
  ExpectRefused(LoadPlugin(path, object.get(), "good"), "was replaced");
}

// The dynamic linker says of it that there is no such file.
TEST(LoadPluginTest, OfAnotherMachineNamesBoth) {
  const std::string path = ::testing::TempDir() + "/libforeign.so";
  fs::copy_file(BadPlugin(), path, fs::copy_options::overwrite_existing);
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(Elf64_Ehdr, e_machine));
  file.put(static_cast<char>(EM_S390)).put(0);
  file.close();
  ExpectRefused(path, "good", "it was built for s390, and this machine is ");
}

TEST(LoadPluginTest, OfAFileInAClosedDirectoryTakesTheOpenedOne) {
  const fs::path closed = fs::path(::testing::TempDir()) / "closed";
  fs::create_directory(closed);
  const std::string path = closed / "libobject.so";
  fs::copy_file(BadPlugin(), path, fs::copy_options::overwrite_existing);
  fs::permissions(path, fs::perms(0644));
  const ipc::UniqueFd object(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(object);
  fs::permissions(closed, fs::perms(0));
  ipc::ForkedChild child([&] {
    // Root may enter any directory.
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) {
      return 1;
    }
    const auto backend = LoadPlugin(path, object.get(), "good");
    if (!backend) return 2;
    return NameOfObjectWith(*backend) == path ? 0 : 3;
  });
  EXPECT_EQ(child.Wait(), 0);
  fs::permissions(closed, fs::perms(0755));
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
  ExpectRefused(BadPlugin(), "other_abi",
                "serves version 77 of the ABI, and this Bulkhead version 1");
}

TEST(LoadPluginTest, OfATableWithHolesSaysSo) {
  ExpectRefused(BadPlugin(), "table_with_holes",
                "leaves out its name, its version or one of its functions");
}

TEST(LoadPluginTest, OfATableThatIsTooSmallSaysSo) {
  ExpectRefused(BadPlugin(), "small_table",
                "leaves out its name, its version or one of its functions");
  ExpectRefused(BadPlugin(), "empty_table", "");
}

TEST(LoadPluginTest, ATableOfALaterReleaseIsTaken) {
  EXPECT_TRUE(Load(BadPlugin(), "larger_table"));
}

TEST(LoadPluginTest, OfAnEntryFunctionThatThrowsSaysWhat) {
  ExpectRefused(BadPlugin(), "throws_exception", "no licence");
  ExpectRefused(BadPlugin(), "throws_number", "throws_number");
}

}  // namespace
}  // namespace bulkhead::worker::zygote
