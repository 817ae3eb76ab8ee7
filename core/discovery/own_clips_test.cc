// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/own_clips.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

constexpr const char* kInfo = "acme-1.0.dist-info";

class OwnClipsTest : public testing::Test {
 protected:
  OwnClipsTest() {
    tree_.Write("acme/libacme.so", "ELF");
    EXPECT_EQ(::chmod((tree_ / "acme/libacme.so").c_str(), 0755), 0);
    EXPECT_EQ(::stat((tree_ / "acme/libacme.so").c_str(), &object_), 0);
  }

  void Write(const std::string& below, const std::string& contents) {
    tree_.Write(below, contents);
    EXPECT_EQ(::chmod((tree_ / below).c_str(), 0644), 0);
    EXPECT_EQ(
        ::chmod(std::filesystem::path(tree_ / below).parent_path().c_str(),
                0755),
        0);
  }

  OwnClip Find(const std::string& path) {
    Manifest manifest;
    manifest.health_check = {{.path = path, .picture_md5s = {"a"}}};
    diagnostics_.clear();
    const std::vector<RecordedFile> rows = {
        {std::string(kInfo) + "/clip.ivf", hash_},
        {std::string(kInfo) + "/clips/b.ivf", ""}};
    std::vector<OwnClip> clips =
        FindOwnClips(tree_.Open().get(), kInfo, manifest, &rows, object_,
                     "bulkhead.toml", diagnostics_);
    EXPECT_EQ(clips.size(), 1u);
    EXPECT_EQ(diagnostics_.size(), clips[0].fault.empty() ? 0u : 1u);
    return clips[0];
  }

  TemporaryTree tree_;
  struct stat object_ = {};
  std::string hash_;  // Of clip.ivf, in RECORD.
  Diagnostics diagnostics_;
};

TEST_F(OwnClipsTest, AFileOfTheDistributionIsRead) {
  Write(std::string(kInfo) + "/clip.ivf", "media");
  Write(std::string(kInfo) + "/clips/b.ivf", "more media");
  EXPECT_EQ(ReadOwnClip(tree_.path(), Find("clip.ivf")).value(), "media");
  EXPECT_EQ(ReadOwnClip(tree_.path(), Find("clips/b.ivf")).value(),
            "more media");
}

TEST_F(OwnClipsTest, AClipWithFurtherNamesNeedsItsHash) {
  Write("elsewhere", "data");
  std::filesystem::create_directory(tree_ / kInfo);
  std::filesystem::create_hard_link(tree_ / "elsewhere",
                                    tree_ / (std::string(kInfo) + "/clip.ivf"));
  EXPECT_NE(Find("clip.ivf").fault.find("further names"), std::string::npos);
  hash_ = "sha256=2SmKENGwc1g33EvYXaxkGw887yekfl1TpU8vP1svz_o";
  EXPECT_EQ(ReadOwnClip(tree_.path(), Find("clip.ivf")).error().code(),
            Code::kInvalidArgument);
  hash_ = "sha256=Om6weQ85rIfJTzhWst0sXREOaBFgImGpqSPTuyOtyLc";
  EXPECT_EQ(ReadOwnClip(tree_.path(), Find("clip.ivf")).value(), "data");
}

TEST_F(OwnClipsTest, AFaultSaysWhichFileAndWhy) {
  EXPECT_EQ(Find("clip.ivf").fault,
            "\"acme-1.0.dist-info/clip.ivf\" does not exist");
  EXPECT_EQ(ReadOwnClip(tree_.path(), Find("clip.ivf")).error().message(),
            "\"acme-1.0.dist-info/clip.ivf\" does not exist");
  Write(std::string(kInfo) + "/unlisted.ivf", "media");
  EXPECT_NE(Find("unlisted.ivf").fault.find("RECORD lists"), std::string::npos);
  std::filesystem::create_directory(tree_ / std::string(kInfo) + "/clips");
  tree_.Link("/etc", std::string(kInfo) + "/linked");
  EXPECT_NE(Find("linked/passwd").fault.find("the symbolic link"),
            std::string::npos);
}

TEST_F(OwnClipsTest, TheSizeIsBounded) {
  const std::string path = std::string(kInfo) + "/clip.ivf";
  Write(path, std::string(kMaxOwnClipBytes, 'x'));
  EXPECT_EQ(ReadOwnClip(tree_.path(), Find("clip.ivf")).value().size(),
            kMaxOwnClipBytes);
  Write(path, std::string(kMaxOwnClipBytes + 1, 'x'));
  EXPECT_NE(Find("clip.ivf").fault.find("1048577 bytes"), std::string::npos);
  Write(path, "");
  EXPECT_NE(Find("clip.ivf").fault.find("0 bytes"), std::string::npos);
}

TEST_F(OwnClipsTest, AFileThatWasReplacedSinceIsNotRead) {
  const std::string path = std::string(kInfo) + "/clip.ivf";
  Write(path, "media");
  const OwnClip found = Find("clip.ivf");
  std::filesystem::rename(tree_ / path, tree_ / path + ".old");
  EXPECT_EQ(ReadOwnClip(tree_.path(), found).error().code(), Code::kNotFound);
  Write(path, "other");
  EXPECT_NE(ReadOwnClip(tree_.path(), found)
                .error()
                .message()
                .find("has changed since"),
            std::string::npos);
  std::filesystem::rename(tree_ / path + ".old", tree_ / path);
  std::filesystem::resize_file(tree_ / path, 3);
  EXPECT_FALSE(ReadOwnClip(tree_.path(), found));
}

}  // namespace
}  // namespace bulkhead::discovery
