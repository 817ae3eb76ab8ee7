// SPDX-License-Identifier: Apache-2.0
#include "tests/container/container.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

constexpr minutes kDownload{10};
constexpr minutes kLimit{5};
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

Containers::Containers(ContainerRoot root)
    : made_of_(std::move(root)), obstacle_(FindObstacle()) {}

Containers::~Containers() {
  std::error_code ignored;
  if (!keeps_root_ && !root_.empty()) fs::remove_all(root_, ignored);
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
    root_ = std::string(kept) + "/" + made_of_.name;
    keeps_root_ = true;
    if (fs::exists(root_ + made_of_.last_file)) return "";
    fs::create_directories(root_);
  } else {
    std::string name = "/var/tmp/bulkhead-container-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return "cannot make " + name;
    root_ = name;
    fs::permissions(root_, fs::perms(0755));
  }
  const ProgramResult made =
      RunAsRoot({"debootstrap", "--variant=minbase",
                 "--include=" + made_of_.packages, "bookworm", root_},
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
  command.insert(
      command.end(),
      {"run", "--rm", "--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096",
       "--volume=" + made_of_.application + ":/bulkhead:ro"});
  if (const char* shared = std::getenv("BULKHEAD_SHARED");
      shared != nullptr && *shared != '\0') {
    command.push_back(std::string("--volume=") + shared + "/media:/media:ro");
  }
  const auto names_network = [](const std::string& option) {
    return option.starts_with("--network=");
  };
  if (std::none_of(options.begin(), options.end(), names_network)) {
    command.emplace_back("--network=none");
  }
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--rootfs", root_, "/bin/sh", "-c", script});
  return RunAsRoot(command, kLimit);
}

}  // namespace bulkhead::tests
