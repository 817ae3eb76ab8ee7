// SPDX-License-Identifier: Apache-2.0
//
// Bulkhead in real containers: Podman's default profile, Docker's, and ours.

#include "tests/container/container.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/media/sample_files.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Options = std::vector<std::string>;

// The packages of the libraries that `ldd` finds in the programs, besides those
// that come with ffmpeg.
constexpr char kPackages[] =
    "libcapnp-0.9.2 libfmt9 libmd0 libncursesw6 libpng16-16 "
    "libprometheus-cpp-pull1.0 libtomlplusplus3 libutf8proc2 libxxhash0 "
    "libzip4";
constexpr char kDoctor[] = "/bulkhead/cli/bulkhead doctor --json";
constexpr char kDemo[] = "cd /tmp && /bulkhead/cli/bulkhead demo";
constexpr char kFloorReduced[] = "--env=BULKHEAD_SANDBOX_FLOOR=reduced";
constexpr char kProfileInContainer[] =
    "/bulkhead/dist/libexec/container_seccomp.json";

// Runs under the capabilities of Docker's default and a seccomp profile.
Options AsInDocker(const std::string& profile) {
  return {"--cap-drop=all",
          "--cap-add=AUDIT_WRITE,CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,MKNOD,"
          "NET_BIND_SERVICE,NET_RAW,SETFCAP,SETGID,SETPCAP,SETUID,SYS_CHROOT",
          "--security-opt=seccomp=" + profile};
}

Options Docker() { return AsInDocker(PathFromEnvironment("DOCKER_SECCOMP")); }

Options Ours() {
  return AsInDocker(LibexecDirectory() + "/container_seccomp.json");
}

Options With(Options options, const std::string& option) {
  options.push_back(option);
  return options;
}

class ContainerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    application_ = TemporaryDirectory() + "/application";
    fs::create_directories(application_ + "/cli");
    fs::create_directories(application_ + "/dist");
    fs::copy(PathFromEnvironment("BULKHEAD_TEST_CLI"), application_ + "/cli");
    CopyForAll(LibexecDirectory(), application_ + "/dist/libexec");
    containers_ = std::make_unique<Containers>(application_);
    if (!containers_->obstacle().empty()) return;
    const ProgramResult installed = containers_->Run(
        {}, std::string("apt-get -q install --yes --no-install-recommends ") +
                kPackages);
    ASSERT_EQ(installed.exit_code, 0) << installed.Describe();
  }
  static void TearDownTestSuite() {
    containers_.reset();
    fs::remove_all(application_);
  }
  void SetUp() override {
    if (!containers_->obstacle().empty()) {
      GTEST_SKIP() << containers_->obstacle();
    }
  }

  static ProgramResult Run(const Options& options, const std::string& script) {
    return containers_->Run(options, script);
  }

  // Returns what doctor says of the sandbox. Expects its exit status.
  static nlohmann::json Sandbox(const Options& options, int exit_code = 0) {
    const ProgramResult doctor = Run(options, kDoctor);
    EXPECT_EQ(doctor.exit_code, exit_code) << doctor.Describe();
    const auto report = nlohmann::json::parse(doctor.output, nullptr, false);
    return report.is_object() ? report["sandbox"] : nlohmann::json::object();
  }

  static bool Lacks(const nlohmann::json& sandbox, const std::string& what) {
    const auto& gaps = sandbox["gaps"];
    return std::any_of(gaps.begin(), gaps.end(), [&](const auto& gap) {
      return gap["missing"].template get<std::string>().find(what) !=
             std::string::npos;
    });
  }

  static void ExpectDemo(const Options& options,
                         const std::string& script = kDemo) {
    const ProgramResult demo = Run(options, script);
    EXPECT_EQ(demo.exit_code, 0) << demo.Describe();
    EXPECT_NE((demo.output + demo.errors)
                  .find("all frames of all runs are "
                        "equal, on all devices"),
              std::string::npos)
        << demo.Describe();
  }

 private:
  static inline std::string application_;
  static inline std::unique_ptr<Containers> containers_;
};

// The table of the sandbox's README.
TEST_F(ContainerTest, TiersAreThoseOfTheReadme) {
  struct Row {
    const char* name;
    Options options;
    std::string tier_of_root;
    bool own_uid;
    std::string tier_of_others;
  };
  const Options bare = {"--cap-drop=all"};
  const Options ids = With(bare, "--cap-add=SETUID,SETGID,KILL");
  for (const Row& row : std::vector<Row>{
           {"Podman's default", {}, "full", true, "full"},
           {"no capabilities", bare, "reduced", false, "full"},
           {"three capabilities", ids, "full", true, "full"},
           {"Docker's default", Docker(), "reduced", true, "reduced"},
           {"our profile", Ours(), "full", true, "full"}}) {
    SCOPED_TRACE(row.name);
    const Options options = With(row.options, kFloorReduced);
    const auto root = Sandbox(options);
    EXPECT_EQ(root["tier"], row.tier_of_root) << root;
    EXPECT_EQ(root["own_uid"], row.own_uid) << root;
    const auto other = Sandbox(With(options, "--user=1000:1000"));
    EXPECT_EQ(other["tier"], row.tier_of_others) << other;
    EXPECT_EQ(other["own_uid"], false) << other;
  }
}

TEST_F(ContainerTest, PodmansDefaultRunsTheDemo) { ExpectDemo({}); }

// Ten files, on both backends, give what they give outside of the container.
TEST_F(ContainerTest, PodmansDefaultDecodesRealFiles) {
  constexpr size_t kFiles = 10;
  std::vector<SampleFile> files = MediaFiles();
  if (files.empty()) GTEST_SKIP() << WhyNoSamples();
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return fs::file_size(a.path) < fs::file_size(b.path);
  });
  files.resize(std::min(files.size(), kFiles));
  std::string script;
  std::string expected;
  for (const SampleFile& file : files) {
    for (const char* device : {"cpu", "openreg"}) {
      script += "/bulkhead/cli/bulkhead decode '/media/" +
                fs::path(file.path).filename().string() + "' --device " +
                device + "; echo exit $?\n";
      const ProgramResult outside = RunProgram(
          {PathFromEnvironment("BULKHEAD_TEST_CLI"), "--libexec",
           LibexecDirectory(), "decode", file.path, "--device", device});
      expected +=
          outside.output + "exit " + std::to_string(outside.exit_code) + "\n";
    }
  }
  const ProgramResult inside = Run({}, script);
  EXPECT_EQ(inside.exit_code, 0) << inside.errors;
  EXPECT_GT(std::count(expected.begin(), expected.end(), '\n'), 100);
  EXPECT_EQ(inside.output, expected);
}

TEST_F(ContainerTest, DockersDefaultStartsNothingAndSaysWhatToDo) {
  constexpr int kSandboxTooWeak = 5;
  const auto sandbox = Sandbox(Docker(), kSandboxTooWeak);
  const std::string remedy = sandbox["gaps"][0]["remedy"];
  EXPECT_NE(remedy.find("podman run --security-opt seccomp=FILE"),
            std::string::npos)
      << remedy;
  EXPECT_NE(remedy.find(kProfileInContainer), std::string::npos) << remedy;
}

TEST_F(ContainerTest, DockersDefaultWorksWhereTierReducedIsAccepted) {
  ExpectDemo(With(Docker(), kFloorReduced));
}

// The uid of a backend may not enter the directory.
TEST_F(ContainerTest, TierReducedWorksBelowAClosedDirectory) {
  ExpectDemo(With(Docker(), kFloorReduced),
             "rm -rf /closed && mkdir -m 0700 /closed && cd /closed && "
             "cp -r /bulkhead . && bulkhead/cli/bulkhead demo");
}

TEST_F(ContainerTest, OurProfileGivesBackendsAHostNameOfTheirOwn) {
  EXPECT_TRUE(Lacks(Sandbox({}), "a host name"));
  EXPECT_FALSE(Lacks(Sandbox(Ours()), "a host name"));
  ExpectDemo(Ours());
}

}  // namespace
}  // namespace bulkhead::tests
