// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/grants/asking_installation.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Json = nlohmann::json;

class GrantCommands : public testing::Test {
 protected:
  void SetUp() override {
    at_.Ask("devices = [\"/dev/zer*\"]\nread = [\"" + at_.path() +
                "/data\"]\nioctls = [\"drm\"]\n",
            "");
  }

  ProgramResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    return RunProgram(
        arguments,
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                         {"BULKHEAD_PATH", at_.plugins()},
                         {"BULKHEAD_GRANTS", at_.grants()}}});
  }

  // Returns the backend's permissions as `bulkhead backends` prints them.
  Json Granted() {
    const ProgramResult result = Run({"backends", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    const Json report = Json::parse(result.output, nullptr, false);
    for (const Json& backend : report["backends"]) {
      if (backend["name"] == "asking") return backend["granted"];
    }
    return Json();
  }

  void ExpectFailure(const std::vector<std::string>& arguments,
                     const std::string& reason) {
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.Describe();
    EXPECT_NE(result.errors.find(reason), std::string::npos) << result.errors;
    EXPECT_EQ(result.output, "");
  }

  std::string File() const {
    std::ifstream file(at_.grants());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  AskingInstallation at_;
};

TEST_F(GrantCommands, WhatIsGrantedIsListedAndCanBeTakenAway) {
  ProgramResult result =
      Run({"grant", "asking", "device=/dev/zero", "ioctl=drm"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_NE(
      result.output.find("\n  device=/dev/zero\n  ioctl=drm\nwritten to "),
      std::string::npos)
      << result.output;
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(Granted(), (Json{"device=/dev/zero", "ioctl=drm"}));
  struct stat info = {};
  ASSERT_EQ(stat(at_.grants().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, mode_t{0600});

  result = Run({"grants", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  const Json listed = Json::parse(result.output)["grants"];
  const auto ours = std::find_if(
      listed.begin(), listed.end(),
      [&](const Json& grant) { return grant["file"] == at_.grants(); });
  ASSERT_NE(ours, listed.end()) << listed;
  EXPECT_EQ((*ours)["backend"], "asking");
  EXPECT_EQ((*ours)["hash"], at_.hash());

  result = Run({"revoke", "asking", "ioctl=drm"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(Granted(), Json{"device=/dev/zero"});
  result = Run({"revoke", "asking"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(Granted(), Json::array());
  ExpectFailure({"revoke", "asking"}, "grants no such thing");
}

TEST_F(GrantCommands, AllThatIsAskedIsShownAndGranted) {
  const ProgramResult result = Run({"grant", "asking", "--all", "--any-hash"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  for (const std::string& text :
       {std::string("device=/dev/zer*"), "read=" + at_.path() + "/data",
        std::string("ioctl=drm")}) {
    EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
  }
  EXPECT_EQ(Granted().size(), 3u);
  EXPECT_NE(File().find("any_hash = true"), std::string::npos) << File();
}

TEST_F(GrantCommands, WhatTheOwnerWroteStays) {
  at_.Grant("read = [\"/x\"]  # for later\n");
  const std::string before = "# Mine.\n" + File();
  at_.Write("grants.toml", before);
  ASSERT_EQ(Run({"grant", "asking", "ioctl=drm"}).exit_code, 0);
  EXPECT_EQ(File(), before + "ioctls = [\"drm\"]\n");
}

TEST_F(GrantCommands, WhatWasNotAskedIsNotGrantedUnlessForced) {
  for (const char* beyond :
       {"read=/etc", "device=/dev/*", "ioctl=v4l2", "memory=1G", "threads=1"}) {
    ExpectFailure({"grant", "asking", beyond}, "does not ask for");
  }
  EXPECT_FALSE(std::filesystem::exists(at_.grants()));
  EXPECT_EQ(Run({"grant", "asking", "read=/etc", "--force"}).exit_code, 0);
  EXPECT_EQ(Granted(), Json::array());
}

TEST_F(GrantCommands, SlipsAreReportedAndNothingIsWritten) {
  ExpectFailure({"grant", "asking"}, "asks for device=/dev/zer*");
  ExpectFailure({"grant", "nobody", "ioctl=drm"}, "there is no backend nobody");
  ExpectFailure({"grant", "asking", "write=/tmp"}, "writing can neither");
  ExpectFailure({"grant", "asking", "read=/a/../b"}, "\"..\"");
  ExpectFailure({"grant", "asking", "drm"}, "KIND=VALUE");
  ExpectFailure({"revoke", "asking"}, "does not exist");
  EXPECT_FALSE(std::filesystem::exists(at_.grants()));
}

TEST_F(GrantCommands, BackendsShowsBothToPeople) {
  ASSERT_EQ(Run({"grant", "asking", "ioctl=drm"}).exit_code, 0);
  const ProgramResult result = Run({"backends"});
  EXPECT_NE(result.output.find("asks for      device=/dev/zer*, read=" +
                               at_.path() + "/data, ioctl=drm"),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("granted       ioctl=drm\n"), std::string::npos)
      << result.output;
  EXPECT_NE(result.errors.find("bulkhead grant asking 'device=/dev/zer*'"),
            std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace bulkhead::tests
