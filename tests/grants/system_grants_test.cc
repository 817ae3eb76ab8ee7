// SPDX-License-Identifier: Apache-2.0
//
// Tests grants for all users, and which grants a privileged process respects.
// Both need root: the test mounts a copy over /etc that only this process sees,
// and gives the CLI a file capability.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/grants/asking_installation.h"
#include "tests/support/covered_directory.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr char kSystemGrants[] = "/etc/bulkhead/grants.toml";
constexpr uid_t kNobody = 65534;

// Mounts the copy over /etc. Returns why that failed, or an empty string.
std::string CoverEtc(const std::string& directory) {
  // No overlay can have its upper directory in another overlay.
  const std::string refused = CoverDirectory(directory);
  if (!refused.empty()) return refused;
  fs::create_directory(directory + "/upper");
  fs::create_directory(directory + "/work");
  const std::string options = "lowerdir=/etc,upperdir=" + directory +
                              "/upper,workdir=" + directory + "/work";
  if (mount("overlay", "/etc", "overlay", 0, options.c_str()) != 0) {
    return std::string("overlay: ") + std::strerror(errno);
  }
  fs::remove_all("/etc/bulkhead");
  return "";
}

// Gives the program CAP_NET_BIND_SERVICE, which no test needs.
bool GiveFileCapability(const std::string& program) {
  vfs_cap_data capabilities = {};
  capabilities.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capabilities.data[0].permitted = 1u << CAP_NET_BIND_SERVICE;
  return setxattr(program.c_str(), "security.capability", &capabilities,
                  XATTR_CAPS_SZ_2, 0) == 0;
}

class SystemGrants : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (geteuid() != 0) {
      why_not_ = "only root may lay something over /etc";
      return;
    }
    char directory[] = "/tmp/system-grants-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    directory_ = directory;
    why_not_ = CoverEtc(directory_);
  }
  static void TearDownTestSuite() {
    umount2("/etc", MNT_DETACH);
    umount2(directory_.c_str(), MNT_DETACH);
    fs::remove(directory_);
  }

  void SetUp() override {
    if (!why_not_.empty()) GTEST_SKIP() << why_not_;
    fs::remove_all("/etc/bulkhead");
    at_.Ask("ioctls = [\"drm\", \"dma-buf\"]\n", "");
    // To a place where every user may run it.
    CopyForAll(LibexecDirectory(), at_.path() + "/libexec");
    program_ = at_.path() + "/bulkhead";
    fs::copy_file(PathFromEnvironment("BULKHEAD_TEST_CLI"), program_);
    fs::permissions(program_, fs::perms(0755));
    const std::string folder = at_.path() + "/of_nobody";
    fs::create_directory(folder);
    ASSERT_EQ(chown(folder.c_str(), kNobody, kNobody), 0);
    users_ = folder + "/grants.toml";
  }

  ProgramResult Run(const std::vector<std::string>& command,
                    bool as_nobody = false) {
    std::vector<std::string> arguments;
    if (as_nobody) {
      const std::string id = std::to_string(kNobody);
      arguments = {"setpriv", "--reuid=" + id, "--regid=" + id,
                   "--clear-groups"};
    }
    arguments.insert(arguments.end(),
                     {program_, "--libexec", at_.path() + "/libexec",
                      "--plugin-path", at_.plugins()});
    arguments.insert(arguments.end(), command.begin(), command.end());
    return RunProgram(arguments, {.environment = {{"BULKHEAD_GRANTS", users_},
                                                  {"HOME", at_.path()}}});
  }

  // Returns the permissions that the backend has.
  Json Granted(bool as_nobody) {
    const ProgramResult result = Run({"backends", "--json"}, as_nobody);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    const Json report = Json::parse(result.output, nullptr, false);
    for (const Json& backend : report["backends"]) {
      if (backend["name"] == "asking") return backend["granted"];
    }
    return Json();
  }

  static std::string why_not_;
  static std::string directory_;
  AskingInstallation at_;
  std::string program_;
  std::string users_;
};
std::string SystemGrants::why_not_;
std::string SystemGrants::directory_;

TEST_F(SystemGrants, CountForEverybodyUntilTheyAreRevoked) {
  ProgramResult result = Run({"grant", "asking", "ioctl=drm", "--system"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  struct stat info = {};
  ASSERT_EQ(stat(kSystemGrants, &info), 0);
  EXPECT_EQ(info.st_mode & 07777, mode_t{0644});
  EXPECT_EQ(info.st_uid, 0u);
  EXPECT_FALSE(fs::exists(users_));
  for (const bool as_nobody : {false, true}) {
    EXPECT_EQ(Granted(as_nobody), Json{"ioctl=drm"}) << as_nobody;
    result = Run({"grants", "--json"}, as_nobody);
    const Json listed = Json::parse(result.output, nullptr, false);
    ASSERT_EQ(listed["grants"].size(), 1u) << result.Describe();
    EXPECT_EQ(listed["grants"][0]["file"], kSystemGrants);
    EXPECT_EQ(listed["grants"][0]["hash"], at_.hash());
  }

  // The user's own grants are added to those for all users.
  result = Run({"grant", "asking", "ioctl=dma-buf"}, true);
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(Granted(true), (Json{"ioctl=drm", "ioctl=dma-buf"}));

  result = Run({"revoke", "asking", "--system"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(Granted(true), Json{"ioctl=dma-buf"});
}

TEST_F(SystemGrants, AreNotForAnOrdinaryUserToWrite) {
  const ProgramResult result =
      Run({"grant", "asking", "ioctl=drm", "--system"}, true);
  EXPECT_EQ(result.exit_code, 2) << result.Describe();
  EXPECT_NE(result.errors.find("/etc/bulkhead"), std::string::npos)
      << result.errors;
  EXPECT_FALSE(fs::exists(kSystemGrants));
}

TEST_F(SystemGrants, AloneCountInAPrivilegedProcess) {
  ASSERT_EQ(Run({"grant", "asking", "ioctl=drm", "--system"}).exit_code, 0);
  ASSERT_EQ(Run({"grant", "asking", "ioctl=dma-buf"}, true).exit_code, 0);
  ASSERT_EQ(Granted(true), (Json{"ioctl=drm", "ioctl=dma-buf"}));
  if (!GiveFileCapability(program_)) {
    GTEST_SKIP() << "no file capability here: " << std::strerror(errno);
  }
  EXPECT_EQ(Granted(true), Json{"ioctl=drm"});
  const ProgramResult result = Run({"grants", "--json"}, true);
  const Json files = Json::parse(result.output, nullptr, false)["files"];
  ASSERT_EQ(files.size(), 1u) << result.Describe();
  EXPECT_EQ(files[0]["path"], kSystemGrants);
  // A privileged process does not write grants for its caller either.
  const ProgramResult refused = Run({"grant", "asking", "ioctl=drm"}, true);
  EXPECT_EQ(refused.exit_code, 2) << refused.Describe();
}

}  // namespace
}  // namespace bulkhead::tests
