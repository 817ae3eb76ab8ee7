// SPDX-License-Identifier: Apache-2.0
//
// Tests the command line under limits that the shell sets, as a user of its
// own: each limit that is too low is named with what to do, and what fails for
// it counts against nobody.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UserLimits : public testing::Test {
 protected:
  void SetUp() override {
    const std::string clip = ClipOrSkip(Clip::kOddSize);
    if (clip.empty()) return;
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can run a program as a user without others";
    }
    // Not below TEST_TMPDIR, whose parents other users may not be able to
    // enter.
    char home[] = "/tmp/bulkhead-test-XXXXXX";
    ASSERT_NE(::mkdtemp(home), nullptr);
    home_ = home;
    fs::permissions(home_, fs::perms(0755));
    CopyForAll(LibexecDirectory(), home_ / "libexec");
    fs::copy_file(PathFromEnvironment("BULKHEAD_TEST_CLI"), home_ / "bulkhead");
    fs::permissions(home_ / "bulkhead", fs::perms(0755));
    fs::copy_file(clip, home_ / "clip");
    fs::permissions(home_ / "clip", fs::perms(0644));
  }
  void TearDown() override {
    if (!home_.empty()) fs::remove_all(home_);
  }

  // Runs the command as a user who has no other process, after `limits`, which
  // are commands of the shell.
  ProgramResult Run(const std::string& limits,
                    const std::vector<std::string>& arguments,
                    const std::string& exec = "") {
    // Above the uids of accounts, below the uids of backends.
    const uid_t uid =
        0x60000000 + static_cast<uid_t>(::getpid() * 64 + ++runs_);
    state_ = home_ / ("state" + std::to_string(runs_));
    fs::create_directory(state_);
    EXPECT_EQ(::chown(state_.c_str(), uid, uid), 0);
    const std::string id = std::to_string(uid);
    std::vector<std::string> words = {
        "setpriv",
        "--reuid=" + id,
        "--regid=" + id,
        "--clear-groups",
        "bash",
        "-c",
        "cd /; " + limits + "; exec \"$0\" \"$@\""};
    words.push_back(home_ / "bulkhead");
    words.insert(words.end(), arguments.begin(), arguments.end());
    return RunProgram(
        words,
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", (home_ / "libexec").string()},
                         {"BULKHEAD_STATE_DIR", state_.string()},
                         {"BULKHEAD_BACKENDS_EXEC", exec}}});
  }
  ProgramResult Decode(const std::string& limits, const std::string& threads,
                       const std::string& exec = "") {
    return Run(
        limits,
        {"decode", home_ / "clip", "--format", "null", "--threads", threads},
        exec);
  }
  // The quarantines and the crashes of the last run.
  std::vector<std::string> Records() const {
    std::vector<std::string> records;
    for (const auto& entry : fs::recursive_directory_iterator(state_)) {
      if (entry.is_regular_file()) records.push_back(entry.path().filename());
    }
    return records;
  }

  fs::path home_;
  fs::path state_;
  int runs_ = 0;
};

TEST_F(UserLimits, AreNamedAndCountAgainstNobody) {
  struct Row {
    const char* limits;
    const char* named;
    const char* threads = "1";
    const char* exec = "";
  };
  for (const auto& [limits, named, threads, exec] : {
           Row{"ulimit -u 1", "(ulimit -u)"},
           Row{"ulimit -u 2", "(ulimit -u)"},
           Row{"ulimit -u 3", "(ulimit -u)"},
           Row{"ulimit -u 4", "(ulimit -u)"},
           Row{"ulimit -u 10", "(ulimit -u)", "16"},
           Row{"ulimit -u 4", "(ulimit -u)", "1", "cpu"},
           Row{"ulimit -u 5", "(ulimit -u)", "1", "cpu"},
           Row{"ulimit -u 6", "(ulimit -u)", "1", "cpu"},
           Row{"ulimit -v 61440", "(ulimit -v)"},
           Row{"ulimit -d 1000", "(ulimit -d)"},
           Row{"ulimit -d 5000", "(ulimit -d)"},
           Row{"ulimit -f 0", "(ulimit -f)"},
           Row{"ulimit -f 8", "(ulimit -f)"},
           Row{"ulimit -f 100", "(ulimit -f)"},
           Row{"ulimit -n 16", "too few to start bulkheadd"},
           Row{"ulimit -n 31", "too few to start bulkheadd"},
           Row{"ulimit -n 40", "(ulimit -Hn, RLIMIT_NOFILE)"},
       }) {
    SCOPED_TRACE(std::string(limits) + " threads " + threads + " " + exec);
    const ProgramResult result = Decode(limits, threads, exec);
    EXPECT_EQ(result.exit_code, 4) << result.Describe();
    ExpectOutcome(Fault(53), std::string(limits) + ", threads " + threads,
                  "exit code 4",
                  "exit code " + std::to_string(result.exit_code));
    EXPECT_THAT(result.errors,
                AllOf(HasSubstr(named), HasSubstr("raise"),
                      Not(HasSubstr("restarts")), Not(HasSubstr("attempts")),
                      Not(HasSubstr("breaks bulkhead_backend.h"))));
    EXPECT_THAT(Records(), testing::IsEmpty());
  }
}

// The backend, its worker or the frames may be what lacks room.
TEST_F(UserLimits, OfAddressSpaceAreNamedWhereverTheyAreMet) {
  int failed = 0;
  for (int mebibytes = 160; mebibytes <= 320; mebibytes += 10) {
    const ProgramResult result =
        Run("ulimit -v " + std::to_string(mebibytes * 1024),
            {"decode", home_ / "clip", "--format", "null", "--resize",
             "1920x1080"});
    if (result.exit_code == 0) continue;
    ++failed;
    SCOPED_TRACE(mebibytes);
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_THAT(result.errors, HasSubstr("(ulimit -v)"));
    EXPECT_THAT(result.errors, Not(HasSubstr("worker-bytes")));
  }
  EXPECT_GT(failed, 0);
}

TEST_F(UserLimits, OfFileSizesEndNoCommandInSilence) {
  const std::string output = home_ / "state1" / "out.rgb";
  // Enough for the shared memory, too little for the output.
  const ProgramResult result =
      Run("ulimit -f 16384", {"decode", home_ / "clip", "--format", "rawvideo",
                              "--fps", "2000", "-o", output});
  EXPECT_EQ(result.exit_code, 4) << result.Describe();
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr(output), HasSubstr("(ulimit -f)")));
}

TEST_F(UserLimits, PsTellsAUserWithoutApplicationsWhoseAreNotShown) {
  const ProgramResult result = Run("true", {"ps"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("no application of uid "),
                    HasSubstr("those of other users are not looked at"),
                    HasSubstr("runuser -u USER -- bulkhead ps")));
}

}  // namespace
}  // namespace bulkhead::tests
