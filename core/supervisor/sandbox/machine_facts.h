// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// The facts about this machine and this process that explain the gaps of the
// sandbox (gaps.h). probe.h finds out which sandbox works by making one, and
// adds the result. All other facts only explain why a sandbox was refused. A
// plain value, so that a test can describe any machine.

// The first step that the kernel refuses to this process on the way to a
// private root directory, and the errno.
struct NamespaceRefusal {
  enum class Step {
    kNothing,          // Every step succeeded.
    kUserNamespace,    // clone(CLONE_NEWUSER).
    kOtherNamespaces,  // unshare() of the other five, in the user namespace.
    kMount,            // mount(), in the new namespaces.
  };

  Step step = Step::kNothing;
  int error = 0;
};

// A kind of speculative execution that this machine lets no process switch off.
struct SpeculationGap {
  std::string name;           // "speculative store bypass"
  std::string argument;       // The kernel argument that lets processes do so.
  std::string vulnerability;  // The kernel's description of the processor.
};

struct MachineFacts {
  // Set by GatherMachineFacts.
  std::string kernel_release;  // "6.1.0-18-amd64"
  std::string executable;      // The path of this program.
  std::string container;       // "docker", "podman", "kubernetes" or empty.
  bool root = false;
  bool system_administrator = false;  // This process has CAP_SYS_ADMIN.
  bool file_capabilities = false;     // This process has CAP_SETFCAP.
  bool seccomp_filters = false;       // The kernel has seccomp filters.
  int seccomp_mode = 0;    // Of this process; 2: it was started under a filter.
  int landlock_error = 0;  // The errno of asking for Landlock's ABI, or 0.
  // The values of sysctls; nullopt if this kernel lacks or does not show them.
  std::optional<int64_t> apparmor_restricts_user_namespaces;
  std::optional<int64_t> unprivileged_user_namespaces;
  std::optional<int64_t> most_user_namespaces;
  std::optional<std::string> security_modules;  // Active: "lockdown,yama".
  std::optional<int64_t> logs_faults;           // debug.exception-trace
  bool hides_processes = false;                 // /proc is mounted with hidepid
  std::vector<SpeculationGap> speculation;

  // Set by ProbeSandbox; SandboxReport explains the first members. The members
  // *_failure are empty if nothing failed.
  Tier tier = Tier::kNone;
  bool own_uid = false;
  uint32_t landlock_abi = 0;
  Forbidden forbidden = Forbidden::kKill;
  // False if this process may not read the memory of a backend.
  bool reads_memory = true;
  std::string full_failure;     // The reason why tier full failed.
  std::string reduced_failure;  // The reason why tier reduced failed.
  std::string own_uid_failure;  // Why no uid of its own; set only as root.
  // False if sandboxes of tier full keep the name of this host.
  bool own_host_name = true;
  std::string naming_failure;  // The reason why seccomp cannot notify.
  NamespaceRefusal refusal;    // Set only if tier full failed.
  CgroupParent cgroup;
};

// Reads the facts from the kernel, /proc and /sys. Tests give a `root` that
// replaces / in these paths, except in /proc/self/exe.
MachineFacts GatherMachineFacts(const std::string& root = "");

// Finds the first refused step by trying each step in a child process.
NamespaceRefusal FindNamespaceRefusal();

}  // namespace bulkhead::sandbox
