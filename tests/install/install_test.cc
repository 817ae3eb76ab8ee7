// SPDX-License-Identifier: Apache-2.0
//
// Installs a vendor's wheel with the command and decodes with it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Install : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = TemporaryDirectory() + "/plugins-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    // A backend runs under a uid of its own and must be able to read the
    // directory.
    fs::permissions(path, fs::perms(0755));
    directory_ = fs::canonical(path);
  }
  void TearDown() override { fs::remove_all(directory_); }

  const std::string& directory() const { return directory_; }
  static std::string wheel() {
    return PathFromEnvironment("BULKHEAD_TEST_WHEEL");
  }

  static ProgramResult Run(std::vector<std::string> arguments,
                           ProgramOptions options = {}) {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    options.environment.push_back({"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()});
    return RunProgram(arguments, options);
  }
  static Json RunForJson(const std::vector<std::string>& arguments,
                         const ProgramOptions& options = {}) {
    const ProgramResult result = Run(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return Json::parse(result.output, nullptr, false);
  }
  static void ExpectFailure(const std::vector<std::string>& arguments,
                            int exit_code, const std::string& reason) {
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.Describe();
    EXPECT_NE(result.errors.find(reason), std::string::npos) << result.errors;
    EXPECT_EQ(result.output, "");
  }

  // Returns the file of the usable backend `openreg`, since Bulkhead comes with
  // one too.
  std::string FileOfOpenreg(const ProgramOptions& options = {}) {
    const Json report = RunForJson(
        {"--plugin-path", directory_, "backends", "--json"}, options);
    for (const Json& backend : report["backends"]) {
      if (backend["name"] == "openreg" && backend["state"] == "discovered") {
        return backend["file"];
      }
    }
    return "";
  }
  static ProgramOptions NameGranted() {
    return {.environment = {{"BULKHEAD_GRANTS", GrantsOfReservedNames()}}};
  }

 private:
  std::string directory_;
};

TEST_F(Install, WheelIsFoundDecodesAndGoes) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  ASSERT_FALSE(FileOfOpenreg().starts_with(directory()));

  const Json done =
      RunForJson({"install", wheel(), "--into", directory(), "--json"});
  EXPECT_EQ(done["name"], "bulkhead-openreg");
  EXPECT_EQ(done["version"], "0.1.0");
  EXPECT_TRUE(done["previous_version"].is_null());
  EXPECT_EQ(done["directory"], directory());
  EXPECT_EQ(done["on_plugin_path"], false);
  ASSERT_EQ(done["backends"].size(), 1u);
  EXPECT_EQ(done["backends"][0]["name"], "openreg");
  // A backend of Bulkhead's own has the name.
  ASSERT_EQ(done["diagnostics"].size(), 1u) << done["diagnostics"];
  EXPECT_NE(std::string(done["diagnostics"][0]["message"])
                .find("the name openreg is that of a backend that comes with"),
            std::string::npos);
  EXPECT_FALSE(FileOfOpenreg().starts_with(directory())) << FileOfOpenreg();

  EXPECT_TRUE(FileOfOpenreg(NameGranted()).starts_with(directory()));
  const auto decode = [&](const char* device) {
    return Run({"--plugin-path", directory(), "decode", clip, "--frames",
                "0:30", "--device", device},
               NameGranted());
  };
  const ProgramResult installed = decode("openreg:1");
  EXPECT_EQ(installed.exit_code, 0) << installed.Describe();
  EXPECT_EQ(installed.output, decode("cpu").output);

  const Json gone = RunForJson(
      {"uninstall", "bulkhead_openreg", "--from", directory(), "--json"});
  EXPECT_EQ(gone["name"], "bulkhead-openreg");
  EXPECT_TRUE(fs::is_empty(directory()));
  EXPECT_FALSE(FileOfOpenreg(NameGranted()).starts_with(directory()));
}

TEST_F(Install, SaysWhatWasDone) {
  const auto install = [&](ProgramOptions options = {}) {
    const ProgramResult result =
        Run({"install", wheel(), "--into", directory()}, std::move(options));
    return result.output + result.errors;
  };
  const std::string first = install();
  EXPECT_NE(first.find("installed bulkhead-openreg 0.1.0 in " + directory()),
            std::string::npos)
      << first;
  EXPECT_NE(first.find("backend openreg"), std::string::npos) << first;
  EXPECT_NE(first.find("export BULKHEAD_ADD_PATH=\"" + directory() + "\""),
            std::string::npos)
      << first;
  EXPECT_NE(install().find("already"), std::string::npos);

  ProgramOptions on_path;
  on_path.environment = {{"BULKHEAD_PATH", directory()}};
  EXPECT_EQ(install(on_path).find("BULKHEAD_ADD_PATH"), std::string::npos);

  const ProgramResult gone =
      Run({"uninstall", "bulkhead-openreg", "--from", directory()});
  EXPECT_NE(gone.output.find("removed bulkhead-openreg 0.1.0"),
            std::string::npos)
      << gone.output;
}

TEST_F(Install, UnpackedOneIsInstalledToo) {
  const std::string copy = directory() + "/copy";
  ASSERT_EQ(Run({"install", wheel(), "--into", directory()}).exit_code, 0);
  const ProgramResult result = Run({"install", directory(), "--into", copy});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_TRUE(fs::exists(copy + "/bulkhead_openreg/libbulkhead_openreg.so"));
}

TEST_F(Install, FailuresSayWhatToFix) {
  ExpectFailure({"install", directory() + "/no.whl", "--into", directory()}, 2,
                "no.whl");
  ExpectFailure({"install"}, 2, "SOURCE");
  ExpectFailure({"install", wheel(), "--into", "/proc/nowhere"}, 2,
                "/proc/nowhere");
  ExpectFailure({"uninstall", "acme", "--from", directory()}, 2, "acme");

  const std::string damaged =
      directory() + "/" + fs::path(wheel()).filename().string();
  fs::copy_file(wheel(), damaged);
  fs::permissions(damaged, fs::perms(0644));
  fs::resize_file(damaged, fs::file_size(damaged) / 2);
  ExpectFailure({"install", damaged, "--into", directory() + "/into"}, 3,
                "bulkhead_openreg-0.1.0");
  EXPECT_FALSE(fs::exists(directory() + "/into"));
}

TEST_F(Install, HelpTeaches) {
  for (const char* command : {"install", "uninstall"}) {
    const ProgramResult result = Run({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_NE(result.output.find("Examples:"), std::string::npos);
  }
}

}  // namespace
}  // namespace bulkhead::tests
