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

// All that is known of this machine and this process when it is explained what
// the sandbox lacks here (gaps.h). What a sandbox can do is found out by doing
// it (probe.h); the rest only says why it was refused. A value, so that a test
// can be any machine.

// The first thing that a process without privileges, or with those it has, is
// refused on its way to a root of its own.
struct NamespaceRefusal {
  enum class Step {
    kNothing,          // it got there
    kUserNamespace,    // clone(CLONE_NEWUSER)
    kOtherNamespaces,  // unshare() of the other five, in there
    kMount,            // mount(), in there
  };

  Step step = Step::kNothing;
  int error = 0;
};

// A switch of the processor that no process can throw here.
struct SpeculationGap {
  std::string name;           // "speculative store bypass"
  std::string argument;       // of the kernel, that is about it
  std::string vulnerability;  // as the kernel describes the processor
};

struct MachineFacts {
  // By GatherMachineFacts.
  std::string kernel_release;  // "6.1.0-18-amd64"
  std::string executable;      // of this program
  std::string container;       // "docker", "podman", "kubernetes"; or empty
  bool root = false;
  bool system_administrator = false;  // has CAP_SYS_ADMIN
  bool seccomp_filters = false;       // the kernel has them
  int seccomp_mode = 0;               // its own, before any of ours
  int landlock_error = 0;             // of asking for its ABI; 0: it has one
  // Without a value: this kernel has no such switch, or does not show it.
  std::optional<int64_t> apparmor_restricts_user_namespaces;
  std::optional<int64_t> unprivileged_user_namespaces;
  std::optional<int64_t> most_user_namespaces;
  std::optional<std::string> security_modules;  // active, "lockdown,yama"
  std::vector<SpeculationGap> speculation;

  // By ProbeSandbox. What failed is empty where nothing did.
  Tier tier = Tier::kNone;
  bool own_uid = false;
  uint32_t landlock_abi = 0;
  Forbidden forbidden = Forbidden::kKill;
  std::string full_failure;     // why not tier full
  std::string reduced_failure;  // why not tier reduced either
  std::string own_uid_failure;  // of the tier in force, as root
  std::string naming_failure;   // of seccomp's notifications
  NamespaceRefusal refusal;     // only where tier full failed
  CgroupParent cgroup;
};

// `root` is before every path that is read.
MachineFacts GatherMachineFacts(const std::string& root = "");

// By trying, in a child.
NamespaceRefusal FindNamespaceRefusal();

}  // namespace bulkhead::sandbox
