// SPDX-License-Identifier: Apache-2.0
#include "tests/container/container.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

constexpr minutes kDownload{10};
constexpr minutes kLimit{5};
// What `ldd` finds in the programs, and ffmpeg, which makes the demo's clip.
constexpr char kPackages[] =
    "ffmpeg,libcapnp-0.9.2,libfmt9,libmd0,libpng16-16,libtomlplusplus3,"
    "libutf8proc2,libxxhash0,libzip4";
// debootstrap lies where only root looks, and calls programs that do too.
constexpr char kPath[] =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
    "/sbin:/bin";

ProgramResult RunAsRoot(const std::vector<std::string>& command,
                        std::chrono::milliseconds limit) {
  std::vector<std::string> arguments = {"/usr/bin/env",
                                        std::string("PATH=") + kPath};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return RunProgram(arguments, {.environment = {}, .limit = limit});
}

// Returns the last line that a program printed, as the reason of its failure.
std::string LastLine(const ProgramResult& result) {
  std::string text = result.errors.empty() ? result.output : result.errors;
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Containers::Containers() : obstacle_(FindObstacle()) {}

Containers::~Containers() {
  std::error_code ignored;
  if (!keeps_root_ && !root_.empty()) fs::remove_all(root_, ignored);
  if (!application_.empty()) fs::remove_all(application_, ignored);
}

std::string Containers::FindObstacle() {
  if (geteuid() != 0) return "debootstrap and this test need root";
  for (const char* program : {"podman", "debootstrap"}) {
    if (RunAsRoot({program, "--version"}, kLimit).exit_code != 0) {
      return std::string(program) +
             " is not installed; tools/setup --container installs it";
    }
  }
  if (std::string obstacle = MakeRoot(); !obstacle.empty()) return obstacle;
  application_ = TemporaryDirectory() + "/application";
  fs::create_directories(application_ + "/cli");
  fs::create_directories(application_ + "/dist");
  fs::copy(PathFromEnvironment("BULKHEAD_TEST_CLI"), application_ + "/cli");
  CopyForAll(LibexecDirectory(), application_ + "/dist/libexec");
  // Each runtime refuses some machines: crun those with both versions of
  // cgroups.
  std::string reasons;
  for (const auto& runtime : std::vector<std::vector<std::string>>{
           {}, {"--runtime=runc"}, {"--runtime=crun"}}) {
    runtime_ = runtime;
    const ProgramResult result = Run({}, "exit 42");
    constexpr int kExpected = 42;
    if (result.exit_code == kExpected) return "";
    reasons += "; " + LastLine(result);
  }
  return "podman runs no container here" + reasons;
}

std::string Containers::MakeRoot() {
  if (const char* kept = std::getenv("BULKHEAD_CONTAINER_ROOT");
      kept != nullptr && *kept != '\0') {
    root_ = kept;
    keeps_root_ = true;
    if (fs::exists(root_ + "/usr/bin/ffmpeg")) return "";
  } else {
    std::string name = "/var/tmp/bulkhead-container-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return "cannot make " + name;
    root_ = name;
    fs::permissions(root_, fs::perms(0755));
  }
  const ProgramResult made =
      RunAsRoot({"debootstrap", "--variant=minbase",
                 std::string("--include=") + kPackages, "bookworm", root_},
                kDownload);
  return made.exit_code == 0
             ? ""
             : "debootstrap cannot make a root directory: " + LastLine(made);
}

ProgramResult Containers::Run(const std::vector<std::string>& options,
                              const std::string& script) const {
  std::vector<std::string> command = {"podman"};
  command.insert(command.end(), runtime_.begin(), runtime_.end());
  // Podman's own limits may be above those that this process may set.
  command.insert(command.end(),
                 {"run", "--rm", "--network=none", "--ulimit=nofile=4096:4096",
                  "--ulimit=nproc=4096:4096",
                  "--volume=" + application_ + ":/bulkhead:ro"});
  if (const char* shared = std::getenv("BULKHEAD_SHARED");
      shared != nullptr && *shared != '\0') {
    command.push_back(std::string("--volume=") + shared + "/media:/media:ro");
  }
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--rootfs", root_, "/bin/sh", "-c", script});
  return RunAsRoot(command, kLimit);
}

}  // namespace bulkhead::tests
