// SPDX-License-Identifier: Apache-2.0
//
// The health check before a reload compares the pictures of Bulkhead's clip and
// of those that a backend brings, and says which clip it could not use.

#include "tests/conformance/own_clip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/conformance/wrong_installation.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OwnClip : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = MakeOwnClip();
    if (clip_.path.empty()) return;
    Install("nothing");
  }

  // Installs the backend with one thing wrong, and starts a Host.
  void Install(const std::string& wrong) {
    host_.reset();
    root_ = InstallWrong(wrong);
  }
  // Makes it wrong in another way from the next load on.
  void Become(const std::string& wrong) const {
    std::ofstream(root_ + "/bulkhead_wrong/wrong") << wrong;
  }
  // Starts the backend as it is installed now.
  void Start() {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.state_directory = "";
    options.plugin_path = {{LibexecDirectory() + "/backends"}, {root_}};
    host_ = Host::Create(options).value();
    const Status ready = host_->Prewarm("wrong");
    EXPECT_TRUE(ready.ok()) << ready;
  }
  Status Reload() { return host_->Reload("wrong"); }

  BackendInfo Info() const {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& info : report.backends) {
      if (info.name == "wrong" && info.state != "draining") return info;
    }
    ADD_FAILURE() << "the backend is not there";
    return {};
  }
  // Returns the warnings about the files of the backend, one a line.
  std::string Warnings() const {
    std::string lines;
    for (const Diagnostic& found : host_->Backends().value().diagnostics) {
      if (found.file.find(root_) == 0) lines += found.message + "\n";
    }
    return lines;
  }

  ClipOfABackend clip_;
  std::string root_;
  std::unique_ptr<Host> host_;
};

TEST_F(OwnClip, AnHonestBackendIsReloaded) {
  if (clip_.path.empty()) return;
  BringClip(root_, clip_);
  Start();
  const int zygote = Info().zygote_pid;
  const Status reloaded = Reload();
  EXPECT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_NE(Info().zygote_pid, zygote);
  EXPECT_EQ(Info().reason, "");
  EXPECT_EQ(Warnings(), "");
}

TEST_F(OwnClip, AVersionWithWrongPicturesIsRefused) {
  if (clip_.path.empty()) return;
  BringClip(root_, clip_);
  Start();
  const int zygote = Info().zygote_pid;
  Become("lies_in_the_built_in_clip");
  const Status built_in = Reload();
  EXPECT_EQ(built_in.code(), Code::kBackendUnavailable);
  EXPECT_THAT(built_in.message(),
              AllOf(HasSubstr("the backend wrong was not reloaded"),
                    HasSubstr("it did not decode Bulkhead's built-in clip: "
                              "frame 0 is not the picture that cpu gives")));
  Become("lies_in_its_own_clip");
  const Status own = Reload();
  EXPECT_EQ(own.code(), Code::kBackendUnavailable);
  EXPECT_THAT(own.message(),
              HasSubstr("it did not decode its own clip "
                        "\"bulkhead_wrong-0.1.0.dist-info/own.mkv\": frame 5 "
                        "is not the picture that bulkhead.toml gives"));
  EXPECT_EQ(Info().zygote_pid, zygote);
  Become("nothing");
  const Status repaired = Reload();
  EXPECT_TRUE(repaired.ok()) << repaired;
}

TEST_F(OwnClip, APictureThatDoesNotComeIsMissed) {
  if (clip_.path.empty()) return;
  clip_.md5s.push_back(clip_.md5s.front());
  BringClip(root_, clip_);
  Start();
  EXPECT_THAT(Reload().message(),
              HasSubstr("it ends before frame 8, which is one of 9"));
}

TEST_F(OwnClip, StandsInWhereTheBuiltInClipIsOfAnotherCodec) {
  if (clip_.path.empty()) return;
  Install("declares_h264_alone");
  Start();
  // Nothing can be checked, and whoever reloads reads so.
  const Status unchecked = Reload();
  EXPECT_TRUE(unchecked.ok()) << unchecked;
  EXPECT_THAT(Info().reason, AllOf(HasSubstr("its decoding was not checked"),
                                   HasSubstr("it does not decode mpeg4")));

  Install("declares_h264_alone");
  BringClip(root_, clip_);
  Start();
  const Status checked = Reload();
  EXPECT_TRUE(checked.ok()) << checked;
  EXPECT_EQ(Info().reason, "");

  Install("declares_h264_alone");
  clip_.md5s[3] = clip_.md5s[2];
  BringClip(root_, clip_);
  Start();
  EXPECT_THAT(Reload().message(), HasSubstr("frame 3 is not the picture"));
}

TEST_F(OwnClip, ThatWasRemovedIsNoReasonToEndWhatRuns) {
  if (clip_.path.empty()) return;
  BringClip(root_, clip_);
  Start();
  const int zygote = Info().zygote_pid;
  fs::remove(DistInfo(root_) + "/own.mkv");
  EXPECT_THAT(Reload().message(), HasSubstr("own.mkv\" does not exist"));
  EXPECT_EQ(Info().zygote_pid, zygote);
  EXPECT_EQ(Info().state, "ready");
}

// A clip that is none. `make` puts it at the path.
struct Hostile {
  const char* name;
  void (*make)(const std::string& path);
  const char* words;
};

void PrintTo(const Hostile& row, std::ostream* stream) { *stream << row.name; }

class HostileClip : public OwnClip,
                    public testing::WithParamInterface<Hostile> {};

TEST_P(HostileClip, IsToldAsTheFaultOfTheManifest) {
  if (clip_.path.empty()) return;
  BringClip(root_, clip_);
  const std::string path = DistInfo(root_) + "/own.mkv";
  fs::remove(path);
  GetParam().make(path);
  Start();
  const auto begun = std::chrono::steady_clock::now();
  const Status refused = Reload();
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_THAT(
      refused.message(),
      AllOf(HasSubstr("its bulkhead.toml names a clip for health checks that "
                      "cannot be used: "
                      "\"bulkhead_wrong-0.1.0.dist-info/own.mkv\""),
            HasSubstr(GetParam().words)));
  EXPECT_THAT(Warnings(), HasSubstr(GetParam().words));
  EXPECT_EQ(Info().state, "ready");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

INSTANTIATE_TEST_SUITE_P(
    Clips, HostileClip,
    testing::Values(Hostile{"fifo",
                            [](const std::string& path) {
                              ASSERT_EQ(::mkfifo(path.c_str(), 0644), 0);
                            },
                            "is not a regular file"},
                    Hostile{"link_out",
                            [](const std::string& path) {
                              fs::create_symlink("/etc/passwd", path);
                            },
                            "is a symbolic link"},
                    Hostile{"hard_link",
                            [](const std::string& path) {
                              std::ofstream(path + ".secret") << "media";
                              fs::permissions(path + ".secret",
                                              fs::perms(0644));
                              fs::create_hard_link(path + ".secret", path);
                            },
                            "has further names (hard links)"},
                    Hostile{"folder",
                            [](const std::string& path) {
                              fs::create_directory(path);
                            },
                            "is not a regular file"},
                    Hostile{"huge",
                            [](const std::string& path) {
                              std::ofstream(path) << "media";
                              fs::permissions(path, fs::perms(0644));
                              fs::resize_file(path, uint64_t{1} << 40);
                            },
                            "should have 1 to 1048576"},
                    Hostile{"empty",
                            [](const std::string& path) {
                              const std::ofstream file(path);
                              fs::permissions(path, fs::perms(0644));
                            },
                            "should have 1 to 1048576"},
                    Hostile{"private",
                            [](const std::string& path) {
                              std::ofstream(path) << "media";
                              fs::permissions(path, fs::perms(0600));
                            },
                            "may be read by fewer users"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(OwnClip, ThatRecordDoesNotListIsRefused) {
  if (clip_.path.empty()) return;
  fs::copy_file(clip_.path, DistInfo(root_) + "/own.mkv",
                fs::copy_options::overwrite_existing);
  fs::permissions(DistInfo(root_) + "/own.mkv", fs::perms(0644));
  AddToManifest(root_, "[[health_check]]\nclip = \"own.mkv\"\nmd5 = [\"" +
                           clip_.md5s[0] + "\"]\n");
  Start();
  EXPECT_THAT(Reload().message(),
              HasSubstr("is not among the files that RECORD lists"));
}

TEST_F(OwnClip, ThatIsNotThereIsRefused) {
  if (clip_.path.empty()) return;
  AddToManifest(root_, "[[health_check]]\nclip = \"a/none.mkv\"\nmd5 = [\"" +
                           clip_.md5s[0] + "\"]\n");
  Start();
  EXPECT_THAT(Reload().message(),
              HasSubstr("its bulkhead.toml names a clip for health checks that "
                        "cannot be used: \"bulkhead_wrong-0.1.0.dist-info/a/"
                        "none.mkv\" does not exist"));
  EXPECT_THAT(Warnings(), HasSubstr("none.mkv\" does not exist"));
}

TEST_F(OwnClip, ThatIsNoMediaIsAFailureOfTheBackend) {
  if (clip_.path.empty()) return;
  BringClip(root_, clip_);
  std::ofstream(DistInfo(root_) + "/own.mkv") << "no media";
  Start();
  EXPECT_THAT(Reload().message(), HasSubstr("it did not decode its own clip"));
}

}  // namespace
}  // namespace bulkhead::tests
