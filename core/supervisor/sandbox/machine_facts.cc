// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/machine_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "core/supervisor/sandbox/read_text.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

std::optional<int64_t> ReadNumber(const std::string& path) {
  const auto text = ReadText(path);
  int64_t number = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), number).ec !=
          std::errc()) {
    return std::nullopt;
  }
  return number;
}

void ReadOwnStatus(const std::string& root, MachineFacts& facts) {
  std::istringstream lines(ReadText(root + "/proc/self/status").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Seccomp:") {
      words >> facts.seccomp_mode;
    } else if (key == "CapEff:") {
      uint64_t capabilities = 0;
      words >> std::hex >> capabilities;
      facts.system_administrator = (capabilities >> CAP_SYS_ADMIN & 1) != 0;
      facts.file_capabilities = (capabilities >> CAP_SETFCAP & 1) != 0;
    }
  }
}

// Returns whether /proc shows users no more than their own processes.
bool HidesProcesses(const std::string& root) {
  std::istringstream lines(ReadText(root + "/proc/self/mounts").value_or(""));
  bool hides = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, directory, kind, options;
    words >> device >> directory >> kind >> options;
    // Later lines win: the last mount hides the others.
    if (directory == "/proc" && kind == "proc") {
      hides = options.find("hidepid=") != std::string::npos &&
              options.find("hidepid=0") == std::string::npos &&
              options.find("hidepid=off") == std::string::npos;
    }
  }
  return hides;
}

// Returns the name of the container runtime that started this process, which is
// recognised by the file that it leaves in its containers.
std::string FindContainer(const std::string& root) {
  struct Mark {
    const char* path;
    const char* container;
  };
  for (const auto& [path, container] :
       {Mark{"/run/secrets/kubernetes.io", "kubernetes"},
        Mark{"/run/.containerenv", "podman"}, Mark{"/.dockerenv", "docker"}}) {
    if (access((root + path).c_str(), F_OK) == 0) return container;
  }
  return "";
}

int LandlockError() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0,
                           LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? errno : 0;
}

// Returns the kinds of speculation for which PR_GET_SPECULATION_CTRL returns
// PR_SPEC_ENABLE: they are on, and this process may not switch them off.
std::vector<SpeculationGap> FindSpeculationGaps(const std::string& root) {
  struct Switch {
    unsigned long which;
    const char* name;
    const char* argument;
    const char* file;
  };
  std::vector<SpeculationGap> gaps;
  for (const auto& [which, name, argument, file] :
       {Switch{PR_SPEC_STORE_BYPASS, "speculative store bypass",
               "spec_store_bypass_disable=prctl", "spec_store_bypass"},
        Switch{PR_SPEC_INDIRECT_BRANCH, "indirect branch speculation",
               "spectre_v2_user=prctl", "spectre_v2"}}) {
    if (prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0) != PR_SPEC_ENABLE) {
      continue;
    }
    gaps.push_back(
        {name, argument,
         ReadText(root + "/sys/devices/system/cpu/vulnerabilities/" + file)
             .value_or("not described")});
  }
  return gaps;
}

// Tries the steps after CLONE_NEWUSER. Runs in the child.
NamespaceRefusal GoOnInUserNamespace() {
  using Step = NamespaceRefusal::Step;
  if (unshare(CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC |
              CLONE_NEWUTS) != 0) {
    return {Step::kOtherNamespaces, errno};
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("bulkhead", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, nullptr) != 0) {
    return {Step::kMount, errno};
  }
  return {};
}

}  // namespace

MachineFacts GatherMachineFacts(const std::string& root) {
  MachineFacts facts;
  utsname names = {};
  if (uname(&names) == 0) facts.kernel_release = names.release;
  std::error_code ignored;
  facts.executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  facts.container = FindContainer(root);
  facts.root = geteuid() == 0;
  ReadOwnStatus(root, facts);
  facts.landlock_error = LandlockError();
  const std::string switches = root + "/proc/sys/";
  facts.seccomp_filters =
      access((switches + "kernel/seccomp").c_str(), F_OK) == 0;
  facts.apparmor_restricts_user_namespaces =
      ReadNumber(switches + "kernel/apparmor_restrict_unprivileged_userns");
  facts.unprivileged_user_namespaces =
      ReadNumber(switches + "kernel/unprivileged_userns_clone");
  facts.most_user_namespaces =
      ReadNumber(switches + "user/max_user_namespaces");
  facts.logs_faults = ReadNumber(switches + "debug/exception-trace");
  facts.hides_processes = HidesProcesses(root);
  facts.security_modules = ReadText(root + "/sys/kernel/security/lsm");
  facts.speculation = FindSpeculationGaps(root);
  return facts;
}

NamespaceRefusal FindNamespaceRefusal() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const ipc::UniqueFd reader(ends[0]);
  ipc::UniqueFd writer(ends[1]);
  const long child =
      syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (child < 0) return {NamespaceRefusal::Step::kUserNamespace, errno};
  if (child == 0) {
    const NamespaceRefusal refusal = GoOnInUserNamespace();
    const ssize_t written = write(writer.get(), &refusal, sizeof(refusal));
    _exit(written == sizeof(refusal) ? 0 : 1);
  }
  writer.reset();
  NamespaceRefusal refusal;
  // A child that was killed by a filter writes nothing.
  if (read(reader.get(), &refusal, sizeof(refusal)) != sizeof(refusal)) {
    refusal = {};
  }
  while (waitpid(static_cast<pid_t>(child), nullptr, 0) < 0 && errno == EINTR) {
  }
  return refusal;
}

}  // namespace bulkhead::sandbox
