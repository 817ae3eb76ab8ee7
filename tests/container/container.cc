// SPDX-License-Identifier: Apache-2.0
#include "tests/container/container.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tests/support/covered_directory.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

constexpr minutes kLimit{15};
constexpr fs::perms kForAll{0755};
// Podman calls programs that lie where only root looks.
constexpr char kPath[] =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

ProgramResult RunAsRoot(const std::vector<std::string>& command) {
  return RunProgram(command,
                    {.environment = {{"PATH", kPath}}, .limit = kLimit});
}

// Returns the last line that a program printed, as the reason of its failure.
std::string LastLine(const ProgramResult& result) {
  std::string text = result.errors.empty() ? result.output : result.errors;
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Shows `lower` in `place`/root, with what is written there in memory. Returns
// false where the kernel refuses that.
bool Overlay(const std::string& lower, const std::string& place) {
  if (!CoverDirectory(place).empty()) return false;
  for (const char* name : {"/upper", "/work", "/root"}) {
    fs::create_directory(place + name);
    fs::permissions(place + name, kForAll);
  }
  const std::string options = "lowerdir=" + lower + ",upperdir=" + place +
                              "/upper,workdir=" + place + "/work";
  if (mount("overlay", (place + "/root").c_str(), "overlay", 0,
            options.c_str()) == 0) {
    return true;
  }
  umount2(place.c_str(), MNT_DETACH);
  return false;
}

}  // namespace

Containers::Containers(std::string application)
    : application_(std::move(application)), obstacle_(FindObstacle()) {}

Containers::~Containers() {
  if (place_.empty()) return;
  umount2(root_.c_str(), MNT_DETACH);
  umount2(place_.c_str(), MNT_DETACH);
  std::error_code ignored;
  fs::remove_all(place_, ignored);
}

std::string Containers::FindObstacle() {
  if (geteuid() != 0) return "debootstrap and this test need root";
  if (RunAsRoot({"podman", "--version"}).exit_code != 0) {
    return "podman is not installed; tools/setup --container installs it";
  }
  if (std::string obstacle = CopyDebian(); !obstacle.empty()) return obstacle;
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

std::string Containers::CopyDebian() {
  const std::string debian = Variable("BULKHEAD_CONTAINER_ROOT");
  debian_ =
      ipc::UniqueFd(open(debian.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!debian_ || flock(debian_.get(), LOCK_SH) != 0 ||
      !fs::exists(debian + "/etc/debian_version")) {
    return "debootstrap has made no root directory \"" + debian +
           "\"; tools/setup --container calls it, and tools/test names it";
  }
  std::string name = "/var/tmp/bulkhead-container-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return "cannot make " + name;
  place_ = name;
  root_ = place_ + "/root";
  if (Overlay(debian, place_)) return "";
  const ProgramResult copied =
      RunAsRoot({"cp", "-a", "--reflink=auto", debian + "/.", root_});
  return copied.exit_code == 0 ? "" : LastLine(copied);
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
  if (const std::string shared = Variable("BULKHEAD_SHARED"); !shared.empty()) {
    command.push_back("--volume=" + shared + "/media:/media:ro");
  }
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--rootfs", root_, "/bin/sh", "-c", script});
  return RunAsRoot(command);
}

}  // namespace bulkhead::tests
