// SPDX-License-Identifier: Apache-2.0
#include "tools/grant_editing/grant_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::grant_editing {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

GrantEdit Appending(const std::string& more) {
  return [more](std::string_view text) -> Result<std::string> {
    return std::string(text) + more;
  };
}

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(GrantFileTest, FoldersAndTheFileAreMadeForThoseWhoReadThem) {
  const TemporaryTree tree;
  const mode_t before = umask(0077);
  for (const auto& [name, audience] :
       {std::pair("user", GrantAudience::kUser),
        std::pair("all", GrantAudience::kEverybody)}) {
    const std::string path = tree / name + "/bulkhead/grants.toml";
    ASSERT_TRUE(EditGrantFile(path, audience, Appending("a\n")).ok());
    ASSERT_TRUE(EditGrantFile(path, audience, Appending("b\n")).ok());
    EXPECT_EQ(ReadAll(path), "a\nb\n");
    EXPECT_EQ(ModeOf(path),
              audience == GrantAudience::kUser ? mode_t{0600} : mode_t{0644});
    EXPECT_EQ(FilesIn(fs::path(path).parent_path()), 1u);
  }
  umask(before);
}

TEST(GrantFileTest, AFileThatWouldNotBeBelievedIsNotMadeSo) {
  const TemporaryTree tree;
  tree.Write("grants.toml", "planted\n");
  chmod((tree / "grants.toml").c_str(), 0666);
  const Status refused = EditGrantFile(tree / "grants.toml",
                                       GrantAudience::kUser, Appending("a\n"));
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("chmod go-w"), std::string::npos);
  EXPECT_EQ(ReadAll(tree / "grants.toml"), "planted\n");

  tree.Link(tree / "elsewhere", "link.toml");
  EXPECT_FALSE(
      EditGrantFile(tree / "link.toml", GrantAudience::kUser, Appending("a\n"))
          .ok());
  EXPECT_FALSE(fs::exists(tree / "elsewhere"));
}

TEST(GrantFileTest, AnEditThatFailsChangesNothing) {
  const TemporaryTree tree;
  const auto fails = [](std::string_view) -> Result<std::string> {
    return Status(Code::kNotFound, "no such grant");
  };
  const Status failed =
      EditGrantFile(tree / "grants.toml", GrantAudience::kUser, fails);
  EXPECT_EQ(failed.code(), Code::kNotFound);
  EXPECT_EQ(FilesIn(tree.path()), 0u);
}

}  // namespace
}  // namespace bulkhead::grant_editing
