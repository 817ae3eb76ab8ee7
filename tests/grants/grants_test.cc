// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/grants/asking_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class Grants : public testing::Test {
 protected:
  void SetUp() override {
    media_ = ClipOrSkip(Clip::kOddSize);
    if (media_.empty()) return;
    at_.Write("data/model", "secret");
    at_.Write("data/below/model", "secret");
    at_.Write("other/model", "secret");
    const auto host = MakeHost();
    ASSERT_TRUE(host) << host.error();
    if ((*host)->Sandbox().value().tier != SandboxTier::kFull) {
      GTEST_SKIP() << "no full sandbox on this machine";
    }
  }

  Result<std::unique_ptr<Host>> MakeHost() const {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.plugin_path = {at_.plugins()};
    options.autoload = true;
    options.grants = at_.grants();
    options.limits.attempts_per_position = 1;
    return Host::Create(options);
  }

  // Starts the backend and returns the outcomes of the attempts while loading
  // and of those in `session`. Also stores what the host then reports about the
  // backend.
  std::string Attempt(const std::string& session = "") {
    auto host = MakeHost().value();
    VideoOptions video;
    video.device = "asking";
    video.backend_options = {{"attempts", session}};
    const auto opened = host->OpenVideo(media_, video);
    EXPECT_FALSE(opened);
    Describe(*host);
    return opened ? "" : opened.error().message();
  }

  void Describe(Host& host) {
    const BackendReport report = host.Backends().value();
    said_.clear();
    for (const Diagnostic& diagnostic : report.diagnostics) {
      said_ += ToString(diagnostic) + "\n";
    }
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "asking") asking_ = backend;
    }
  }

  std::string Data(const std::string& below = "") const {
    return at_.path() + "/data" + below;
  }
  std::string ReadLine(const std::string& path) const {
    return "read = [\"" + path + "\"]\n";
  }

  AskingInstallation at_;
  std::string media_;
  std::string said_;
  BackendInfo asking_;
};

#define EXPECT_SAYS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Grants, WithoutAGrantItLoadsAndCannotAndTheNoteSaysWhatToDo) {
  at_.Ask(ReadLine(Data()) + "devices = [\"/dev/zero\"]\n",
          "read " + Data("/model") + "\ndevice /dev/zero\n");
  const std::string outcome = Attempt();
  EXPECT_SAYS(outcome, "load read model: errno 2");
  EXPECT_SAYS(outcome, "load device zero: errno");
  EXPECT_EQ(asking_.asked, (Texts{"device=/dev/zero", "read=" + Data()}));
  EXPECT_EQ(asking_.granted, Texts());
  EXPECT_SAYS(said_, "note: ");
  EXPECT_SAYS(said_, "bulkhead grant asking device=/dev/zero read=" + Data());
}

TEST_F(Grants, WhatIsGrantedCanBeReadWhileLoadingAndNeverWritten) {
  at_.Ask(ReadLine(Data()), "read " + Data("/model") + "\nread " +
                                Data("/below/model") + "\nlist " + Data() +
                                "\nwrite " + Data("/model") + "\nread " +
                                at_.path() + "/other/model\n");
  // Lets every uid write there, so that only the sandbox prevents it.
  fs::permissions(Data(), fs::perms(0777));
  fs::permissions(Data("/model"), fs::perms(0666));
  at_.Grant(ReadLine(Data()));
  const std::string outcome = Attempt("read " + Data("/model"));
  EXPECT_SAYS(outcome, "load read model: ok; load read model: ok");
  EXPECT_SAYS(outcome, "load list data: ok");
  EXPECT_SAYS(outcome, "load write model: errno");
  EXPECT_SAYS(outcome, "load read model: errno 2");
  EXPECT_SAYS(outcome, "session read model: errno 13");
  EXPECT_EQ(asking_.granted, Texts{"read=" + Data()});
  EXPECT_EQ(said_.find("nobody granted"), std::string::npos) << said_;
  EXPECT_FALSE(fs::exists(Data("/model.new")));
  EXPECT_EQ(fs::file_size(Data("/model")), 6u);
}

TEST_F(Grants, AGrantForAnotherFileCountsForNothing) {
  at_.Ask(ReadLine(Data()), "read " + Data("/model") + "\n");
  at_.Grant(ReadLine(Data()), "sha256=" + std::string(43, 'A'));
  EXPECT_SAYS(Attempt(), "load read model: errno 2");
  EXPECT_EQ(asking_.granted, Texts());
  EXPECT_SAYS(said_, "it is for another file");
  at_.Grant(ReadLine(Data()));
  EXPECT_SAYS(Attempt(), "load read model: ok");
}

TEST_F(Grants, WithoutARecordTheFileItselfIsHashed) {
  fs::remove(at_.plugins() + "/asking-0.1.0.dist-info/RECORD");
  at_.Ask(ReadLine(Data()), "read " + Data("/model") + "\n");
  at_.Grant(ReadLine(Data()));
  EXPECT_SAYS(Attempt(), "load read model: ok");
  EXPECT_EQ(asking_.granted, Texts{"read=" + Data()});
  at_.Grant(ReadLine(Data()), "sha256=" + std::string(43, 'A'));
  EXPECT_SAYS(Attempt(), "load read model: errno 2");
  EXPECT_EQ(asking_.granted, Texts());
  EXPECT_SAYS(said_, "it is for another file");
}

// A package writes its RECORD itself.
TEST_F(Grants, RecordShowsTheDistributionsOwnFilesAndGrantsNothing) {
  const std::string asking = at_.plugins() + "/asking/";
  at_.Write("plugins/asking/own.txt", "its own");
  at_.Write("plugins/asking/secret.txt", "of the user");
  chmod((asking + "secret.txt").c_str(), 0600);
  at_.Write("plugins/private/key.txt", "of the user");
  chmod((at_.plugins() + "/private").c_str(), 0700);
  at_.Write("plugins/asking/folder/inside.txt", "not named");
  at_.Write("plugins/victim/theirs.txt", "of another distribution");
  at_.Write("plugins/victim-1.0.dist-info/RECORD", "victim/theirs.txt,,\n");
  at_.Write("outside/linked.txt", "not installed");
  fs::create_symlink(at_.path() + "/outside", asking + "out");
  std::ofstream record(at_.plugins() + "/asking-0.1.0.dist-info/RECORD",
                       std::ios::app);
  std::string attempts = "read " + asking + "own.txt\n";
  record << "asking/own.txt,,\n";
  const Texts refused = {"asking/secret.txt", "private/key.txt",
                         "asking/out/linked.txt", "victim/theirs.txt"};
  for (const std::string& row : refused) {
    record << row << ",,\n";
    attempts += "read " + at_.plugins() + "/" + row + "\n";
  }
  record << "asking/folder,,\n";
  attempts += "read " + asking + "folder/inside.txt\n";
  record.close();
  at_.Ask("", attempts);

  const std::string outcome = Attempt();
  EXPECT_SAYS(outcome, "load read own.txt: ok");
  for (const std::string& row : refused) {
    EXPECT_SAYS(outcome,
                "load read " + row.substr(row.rfind('/') + 1) + ": errno");
    EXPECT_SAYS(said_, "not shown to the backend: \"" + row + "\"");
  }
  EXPECT_SAYS(outcome, "load read inside.txt: errno");
  EXPECT_SAYS(said_, "\"asking/folder\" is not a regular file");
}

TEST_F(Grants, WithoutARecordNobodySeesTheFilesOfAnotherInTheSameFolder) {
  fs::remove(at_.plugins() + "/asking-0.1.0.dist-info/RECORD");
  const std::string asking = at_.plugins() + "/asking/";
  at_.Write("plugins/asking/theirs.txt", "of the other distribution");
  at_.Write("plugins/asking/libother.so", "of the other distribution");
  at_.Ask("",
          "read " + asking + "theirs.txt\nread " + asking + "libother.so\n");
  EXPECT_SAYS(Attempt(), "load read theirs.txt: ok");

  at_.Write("plugins/other-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n");
  at_.Write("plugins/other-1.0.dist-info/entry_points.txt",
            "[bulkhead.backends]\nother = asking.other:entry\n");
  // The list of what it attempts is no longer its own either.
  const std::string outcome = Attempt();
  for (const std::string file : {"theirs.txt", "libother.so"}) {
    ExpectOutcome(Escape(79), file, "not read",
                  outcome.find(file + ": ok") == std::string::npos ? "not read"
                                                                   : outcome);
  }
  EXPECT_SAYS(said_, "shown its shared object alone");
  EXPECT_SAYS(said_, "may belong to other-1.0.dist-info, which has no RECORD");
}

TEST_F(Grants, AFileThatOthersMayWriteGrantsNothing) {
  at_.Ask(ReadLine(Data()), "read " + Data("/model") + "\n");
  at_.Grant(ReadLine(Data()));
  chmod(at_.grants().c_str(), 0666);
  EXPECT_SAYS(Attempt(), "load read model: errno 2");
  EXPECT_SAYS(said_, "chmod go-w " + at_.grants());
}

TEST_F(Grants, NeverMoreThanAskedNorMoreThanGranted) {
  const std::string attempts = "read " + Data("/model") + "\nread " +
                               Data("/below/model") + "\nlist " + Data() + "\n";
  at_.Ask(ReadLine(Data("/below")), attempts);
  at_.Grant(ReadLine(Data()));
  EXPECT_SAYS(Attempt(), "load read model: errno 2; load read model: ok");
  EXPECT_EQ(asking_.granted, Texts{"read=" + Data("/below")});
  EXPECT_SAYS(said_, "grants more");
  at_.Ask(ReadLine(Data()), attempts);
  at_.Grant(ReadLine(Data("/below")));
  EXPECT_SAYS(Attempt(), "load read model: errno 2; load read model: ok");
  EXPECT_EQ(asking_.granted, Texts{"read=" + Data("/below")});
}

TEST_F(Grants, ALinkInThePlaceOfAGrantedPathLeadsNowhere) {
  const std::string way = at_.path() + "/way";
  for (const bool parent : {false, true}) {
    fs::remove(way);
    const std::string granted = parent ? way + "/below" : way;
    const std::string target = parent ? granted + "/model" : way + "/model";
    at_.Ask(ReadLine(granted),
            "read " + target + "\nread " + Data("/below/model") + "\n");
    at_.Grant(ReadLine(granted));
    // Replaces the granted directory with a symbolic link.
    fs::create_directory_symlink(Data(), way);
    const std::string outcome = Attempt();
    EXPECT_SAYS(outcome, "load read model: errno 2; load read model: errno 2");
    EXPECT_SAYS(said_, "does not get all that was granted");
    EXPECT_SAYS(said_, "symbolic link");
  }
}

TEST_F(Grants, ALinkBelowAGrantedPathDoesNotShowItsTarget) {
  fs::create_symlink(at_.path() + "/other/model", Data("/out"));
  fs::create_symlink("../other/model", Data("/up"));
  at_.Ask(ReadLine(Data()), "read " + Data("/out") + "\nread " + Data("/up") +
                                "\nread " + Data("/../other/model") +
                                "\nread " + Data("/model") + "\n");
  at_.Grant(ReadLine(Data()));
  const std::string outcome = Attempt();
  EXPECT_SAYS(outcome, "load read out: errno 2; load read up: errno 2");
  EXPECT_SAYS(outcome, "load read model: errno 2; load read model: ok");
}

TEST_F(Grants, ADeviceIsUsableOnlyIfGrantedAndIsKeptBySessions) {
  at_.Ask("devices = [\"/dev/zer?\", \"/dev/full\"]\n",
          "read /dev/full\nread /dev/null\ndevice /dev/zero\n");
  at_.Grant("devices = [\"/dev/zero\"]\n");
  const std::string outcome = Attempt("held device read /dev/zero");
  EXPECT_SAYS(outcome, "load read full: errno 2; load read null: errno 2");
  EXPECT_SAYS(outcome, "load device zero: ok");
  EXPECT_SAYS(outcome, "session held device: ok");
  EXPECT_SAYS(outcome, "session read zero: errno 13");
  ASSERT_EQ(asking_.devices.size(), 1u);
  EXPECT_SAYS(asking_.devices[0].description, "probe held: ok");
  EXPECT_EQ(asking_.granted, Texts{"device=/dev/zero"});
}

TEST_F(Grants, ADeviceDoesNotMakeFilesWritable) {
  at_.Ask("devices = [\"/dev/zero\"]\n" + ReadLine(Data()),
          "write " + Data("/model") + "\nwrite " + at_.plugins() +
              "/asking/attempts.txt\nwrite /dev/zero2\n");
  fs::permissions(Data("/model"), fs::perms(0666));
  fs::permissions(at_.plugins() + "/asking/attempts.txt", fs::perms(0666));
  at_.Grant("devices = [\"/dev/*\"]\n" + ReadLine(Data()));
  const std::string outcome = Attempt();
  EXPECT_SAYS(outcome, "load write model: errno");
  EXPECT_SAYS(outcome, "load write attempts.txt: errno");
  EXPECT_SAYS(outcome, "load write zero2: errno");
}

TEST_F(Grants, IoctlsAreThoseOfTheFamiliesInBothStages) {
  at_.Ask("ioctls = [\"drm\", \"v4l2\"]\n", "ioctl d\nioctl V\nioctl T\n");
  at_.Grant("ioctls = [\"drm\", \"media\"]\n");
  const std::string outcome = Attempt("ioctl d ioctl V ioctl | ioctl T");
  EXPECT_SAYS(outcome,
              "load ioctl d: ok; load ioctl V: errno 25; load ioctl T: errno "
              "25");
  EXPECT_SAYS(outcome,
              "session ioctl d: ok; session ioctl V: errno 25; session ioctl "
              "|: errno 25; session ioctl T: errno 25");
}

TEST_F(Grants, LimitsAreRaisedToWhatIsGranted) {
  at_.Ask("memory_bytes = 68719476736\nthreads = 9000\n",
          "limit memory\nlimit threads\n");
  const std::string before = Attempt();
  EXPECT_EQ(before.find("68719476736"), std::string::npos) << before;
  at_.Grant("memory_bytes = 34359738368\nthreads = 99999\n");
  const std::string after = Attempt();
  EXPECT_SAYS(after, "load limit memory: 34359738368");
  EXPECT_EQ(asking_.granted, (Texts{"memory=32G", "threads=9000"}));
}

TEST_F(Grants, ChangesCountFromTheNextStart) {
  at_.Ask(ReadLine(Data()), "");
  auto host = MakeHost().value();
  ASSERT_TRUE(host->Prewarm("asking").ok());
  Describe(*host);
  EXPECT_EQ(asking_.granted, Texts());
  at_.Grant(ReadLine(Data()));
  Describe(*host);
  EXPECT_EQ(asking_.granted, Texts());
  EXPECT_SAYS(said_, "count from its next start");
}

}  // namespace
}  // namespace bulkhead::tests
