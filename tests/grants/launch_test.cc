// SPDX-License-Identifier: Apache-2.0
//
// Tests grants in a launched backend in each tier, as root and as an ordinary
// user, including paths that change after bulkheadd has looked them up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/lockdown.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/deadline.h"
#include "ipc/unique_fd.h"
#include "tests/support/nobody.h"

namespace bulkhead::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr char kReaper[] = "backends/worker/reaper/bulkhead-reaper";
constexpr char kWorker[] = "tests/grants/trying_worker";
constexpr int kPatienceMs = 60'000;

struct Setting {
  Tier tier;
  bool root;
};

class GrantLaunchTest : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to become other users";
    char name[] = "/tmp/bulkhead-grants-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    fs::permissions(directory_, fs::perms(0777));
    for (const char* folder : {"data", "data/below", "other", "other/below"}) {
      fs::create_directory(directory_ / folder);
      std::ofstream(directory_ / folder / "model") << "secret";
      fs::permissions(directory_ / folder, fs::perms(0777));
      fs::permissions(directory_ / folder / "model", fs::perms(0666));
    }
    plugin_.object_path = directory_ / "libplugin.so";
    std::ofstream(plugin_.object_path) << "plugin";
    plugin_.files = {{plugin_.object_path,
                      ResolveReadable(plugin_.object_path).value().identity}};
    reaper_ = ipc::UniqueFd(open(kReaper, O_PATH | O_CLOEXEC));
    worker_ = ipc::UniqueFd(open(kWorker, O_PATH | O_CLOEXEC));
    ASSERT_TRUE(reaper_ && worker_);
  }

  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  // Runs the body of a test as the user of the parameter.
  void AsUser(const std::function<void()>& body) {
    GetParam().root ? body() : tests::RunAsNobody({}, body);
  }

  Grants DataAndZero() {
    Grants grants;
    auto data = ResolveReadable(directory_ / "data");
    EXPECT_TRUE(data) << data.error();
    std::vector<std::string> problems;
    grants.paths = ResolveDevices(
        "/dev/zero", [](const auto&) { return true; }, problems);
    EXPECT_EQ(grants.paths.size(), 1u);
    if (data) grants.paths.push_back(*data);
    return grants;
  }

  // Calls `meanwhile` between looking up the granted paths and launching.
  Result<LaunchedReaper> Start(
      const Grants& grants, const std::function<void()>& meanwhile = [] {}) {
    self_ =
        ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    auto policy = MakePolicy(plugin_, grants);
    if (!policy) return policy.error();
    auto lockdown = CompileLockdown(*policy, plugin_, Forbidden::kKill);
    if (!lockdown) return lockdown.error();
    const ipc::UniqueFd object(
        open(plugin_.object_path.c_str(), O_RDONLY | O_CLOEXEC));
    meanwhile();
    return Launch(
        {.tier = GetParam().tier,
         .policy = *policy,
         .reaper_executable = reaper_.get(),
         .worker_executable = worker_.get(),
         .plugin = object.get(),
         .lockdown = lockdown->get(),
         .application = self_.get(),
         .outside_id = geteuid() == 0 ? std::optional(OutsideId(getpid(), 1))
                                      : std::nullopt,
         .deadline =
             ipc::Deadline::After(std::chrono::milliseconds(kPatienceMs))});
  }

  // Returns the errno of the attempt, 0 for success, or -1 if there is no
  // answer.
  static int Try(const LaunchedReaper& reaper, const std::string& attempt) {
    const int control = reaper.zygote_control.get();
    send(control, attempt.data(), attempt.size(), MSG_NOSIGNAL);
    pollfd wait = {.fd = control, .events = POLLIN, .revents = 0};
    std::array<char, 64> answer;
    if (poll(&wait, 1, kPatienceMs) != 1) return -1;
    const ssize_t bytes = recv(control, answer.data(), answer.size(), 0);
    return bytes > 0 ? std::stoi(std::string(answer.data(),
                                             static_cast<size_t>(bytes)))
                     : -1;
  }

  std::string Path(const std::string& below) const {
    return directory_ / below;
  }
  bool Full() const { return GetParam().tier == Tier::kFull; }

  // Expects that nothing is granted: in the full tier the launch fails, in the
  // reduced tier there is no rule for the path.
  void ExpectNothingOf(Result<LaunchedReaper> reaper) {
    if (Full()) {
      ASSERT_FALSE(reaper);
      EXPECT_NE(reaper.error().message().find(Path("data")), std::string::npos)
          << reaper.error();
      return;
    }
    ASSERT_TRUE(reaper) << reaper.error();
    EXPECT_EQ(Try(*reaper, "read " + Path("data/model")), EACCES);
    EXPECT_EQ(Try(*reaper, "read " + Path("data/below/model")), EACCES);
    EXPECT_GT(Try(*reaper, "read " + Path("other/model")), 0);
    EXPECT_EQ(Try(*reaper, "read " + plugin_.object_path), 0);
  }

  fs::path directory_;
  Plugin plugin_;
  ipc::UniqueFd reaper_;
  ipc::UniqueFd worker_;
  ipc::UniqueFd self_;
};

TEST_P(GrantLaunchTest, WhatIsGrantedIsThereAndNothingElse) {
  AsUser([&] {
    const auto bare = Start({});
    ASSERT_TRUE(bare) << bare.error();
    EXPECT_GT(Try(*bare, "read " + Path("data/model")), 0);
    EXPECT_GT(Try(*bare, "read /dev/zero"), 0);
    EXPECT_GT(Try(*bare, "use /dev/zero"), 0);

    const auto granted = Start(DataAndZero());
    ASSERT_TRUE(granted) << granted.error();
    EXPECT_EQ(Try(*granted, "read " + Path("data/model")), 0);
    EXPECT_EQ(Try(*granted, "use /dev/zero"), 0);
    EXPECT_GT(Try(*granted, "use " + Path("data/model")), 0);
    EXPECT_GT(Try(*granted, "use " + plugin_.object_path), 0);
    EXPECT_GT(Try(*granted, "read " + Path("other/model")), 0);
    EXPECT_GT(Try(*granted, "read " + Path("data/../other/model")), 0);
    EXPECT_GT(Try(*granted, "use /dev/null"), 0);
    EXPECT_GT(Try(*granted, "read /etc/passwd"), 0);
  });
}

TEST_P(GrantLaunchTest, APathThatBecomesALinkBeforeTheLaunchShowsNothing) {
  AsUser([&] {
    ExpectNothingOf(Start(DataAndZero(), [&] {
      fs::rename(Path("data"), Path("moved"));
      fs::create_directory_symlink(Path("other"), Path("data"));
    }));
  });
}

TEST_P(GrantLaunchTest, AFolderAboveThatBecomesALinkShowsNothing) {
  AsUser([&] {
    const auto below = ResolveReadable(Path("data/below"));
    ASSERT_TRUE(below) << below.error();
    const auto swap = [&] {
      fs::rename(Path("data"), Path("moved"));
      fs::create_directory_symlink(Path("other"), Path("data"));
    };
    ExpectNothingOf(Start({.paths = {*below}}, swap));
  });
}

TEST_P(GrantLaunchTest, APathThatBecomesAnotherBeforeTheLaunchShowsNothing) {
  AsUser([&] {
    ExpectNothingOf(Start(DataAndZero(), [&] {
      fs::rename(Path("data"), Path("moved"));
      fs::rename(Path("other"), Path("data"));
    }));
  });
}

// The device node of a GPU usually belongs to a group. The report says whether
// the backend may really open it.
TEST_P(GrantLaunchTest, ADeviceOfAGroupIsForThoseOfTheGroup) {
  constexpr gid_t kVideo = 65533;
  const std::string node = Path("node");
  if (mknod(node.c_str(), S_IFCHR | 0660, makedev(1, 5)) != 0) {
    GTEST_SKIP() << "this user cannot make device nodes";
  }
  ASSERT_EQ(chown(node.c_str(), 0, kVideo), 0);
  ASSERT_EQ(chmod(node.c_str(), 0660), 0);
  const auto use = [&](bool usable) {
    const Reach reach = {.own_uid = geteuid() == 0};
    std::vector<std::string> problems;
    const auto paths = ResolveDevices(
        node, [](const auto&) { return true; }, problems);
    ASSERT_EQ(paths.size(), 1u);
    EXPECT_EQ(ObstacleTo(paths[0], reach).empty(), usable)
        << ObstacleTo(paths[0], reach);
    const auto granted = Start({.paths = paths});
    ASSERT_TRUE(granted) << granted.error();
    EXPECT_EQ(Try(*granted, "use " + node), usable ? 0 : EACCES);
  };
  if (GetParam().root) return use(false);
  tests::RunAsNobody({}, [&] { use(false); });
  tests::RunAsNobody({kVideo}, [&] { use(true); });
}

TEST_P(GrantLaunchTest, ALinkBelowAGrantedPathDoesNotOpenItsTarget) {
  AsUser([&] {
    fs::create_symlink(Path("other/model"), Path("data/out"));
    const auto granted = Start(DataAndZero());
    ASSERT_TRUE(granted) << granted.error();
    EXPECT_GT(Try(*granted, "read " + Path("data/out")), 0);
    EXPECT_EQ(Try(*granted, "read " + Path("data/model")), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Tiers, GrantLaunchTest,
                         testing::Values(Setting{Tier::kFull, true},
                                         Setting{Tier::kFull, false},
                                         Setting{Tier::kReduced, true},
                                         Setting{Tier::kReduced, false}),
                         [](const auto& info) {
                           return std::string(TierName(info.param.tier)) +
                                  (info.param.root ? "AsRoot" : "AsUser");
                         });

}  // namespace
}  // namespace bulkhead::sandbox
