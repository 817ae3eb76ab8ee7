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

// Everything that is known about this machine and this process when the gaps of
// the sandbox are explained (gaps.h). probe.h finds out what a sandbox can do,
// by making one; the other facts only explain why one was refused. A plain
// value, so that a test can describe any machine.

// The first step on the way to a root of its own that the kernel refuses to
// this process, with the privileges it has.
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

// A processor feature that no process can switch off on this machine.
struct SpeculationGap {
  std::string name;           // "speculative store bypass"
  std::string argument;       // The kernel argument that controls the switch.
  std::string vulnerability;  // The kernel's description of the processor.
};

struct MachineFacts {
  // Set by GatherMachineFacts.
  std::string kernel_release;  // "6.1.0-18-amd64"
  std::string executable;      // The path of this program.
  std::string container;       // "docker", "podman", "kubernetes" or empty.
  bool root = false;
  bool system_administrator = false;  // This process has CAP_SYS_ADMIN.
  bool seccomp_filters = false;       // The kernel has them.
  int seccomp_mode = 0;    // Of this process, before any filter of ours.
  int landlock_error = 0;  // The errno of asking for the ABI; 0 if it has one.
  // nullopt: this kernel has no such switch or does not show it.
  std::optional<int64_t> apparmor_restricts_user_namespaces;
  std::optional<int64_t> unprivileged_user_namespaces;
  std::optional<int64_t> most_user_namespaces;
  std::optional<std::string> security_modules;  // Active: "lockdown,yama".
  std::vector<SpeculationGap> speculation;

  // Set by ProbeSandbox. A failure is empty if nothing failed.
  Tier tier = Tier::kNone;
  bool own_uid = false;
  uint32_t landlock_abi = 0;
  Forbidden forbidden = Forbidden::kKill;
  std::string full_failure;     // Why tier full failed.
  std::string reduced_failure;  // Why tier reduced failed too.
  std::string own_uid_failure;  // In the tier in force; only as root.
  std::string naming_failure;   // Of seccomp's notifications.
  NamespaceRefusal refusal;     // Set only if tier full failed.
  CgroupParent cgroup;
};

// Reads the facts from /proc, /sys and the like. Tests give a `root` that
// replaces / in every path that is read.
MachineFacts GatherMachineFacts(const std::string& root = "");

// Finds the first refused step by trying each, in a child.
NamespaceRefusal FindNamespaceRefusal();

}  // namespace bulkhead::sandbox
