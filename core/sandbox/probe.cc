// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/probe.h"

#include <errno.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "core/sandbox/bpf.h"
#include "core/sandbox/contained_process.h"
#include "core/sandbox/errno_status.h"
#include "core/sandbox/landlock.h"
#include "core/sandbox/launcher.h"
#include "core/sandbox/syscall_tables.h"
#include "core/status_macros.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

Status RestrictFiles(const LandlockPlan& plan) {
  const uint64_t handled[] = {plan.handled_fs, plan.handled_net, plan.scoped};
  const ipc::UniqueFd ruleset(static_cast<int>(
      syscall(SYS_landlock_create_ruleset, handled, sizeof(handled), 0)));
  if (!ruleset || syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return ErrnoStatus(Code::kSandboxUnavailable, "cannot apply Landlock");
  }
  return Status();
}

// What seccomp() returns.
long Filter(std::vector<sock_filter> filter, unsigned long flags) {
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                              .filter = filter.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_TSYNC | flags, &program);
}

Status FilterCalls(Forbidden forbidden) {
  const bool notifies = forbidden == Forbidden::kNotify;
  const long stage1 =
      Filter(CompileFilter(ZygoteTable(), forbidden),
             notifies ? SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
                            SECCOMP_FILTER_FLAG_NEW_LISTENER |
                            SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
                      : 0);
  if (stage1 < 0 || Filter(SessionFilter(forbidden), 0) != 0) {
    return ErrnoStatus(Code::kSandboxUnavailable, "cannot apply seccomp");
  }
  if (!notifies) return Status();
  close(static_cast<int>(stage1));
  if (syscall(SYS_getsid, 0) >= 0 || errno != ENOSYS) {
    return Status(Code::kSandboxUnavailable,
                  "a forbidden call whose listener is gone is not refused");
  }
  return Status();
}

// The end of the child closes the set-up socket, which says nothing about how
// it ended.
Status AwaitSuccess(const ContainedProcess& process) {
  siginfo_t ended = {};
  while (waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &ended,
                WEXITED) != 0) {
    if (errno != EINTR) {
      return ErrnoStatus(Code::kInternal, "cannot wait for the probe");
    }
  }
  if (ended.si_code == CLD_EXITED && ended.si_status == 0) return Status();
  return Status(Code::kSandboxUnavailable,
                "a process under all restrictions was killed by signal " +
                    std::to_string(ended.si_status));
}

Status Try(Tier tier, const Policy& policy, std::optional<uint32_t> outside_id,
           uint32_t landlock_abi, Forbidden forbidden, ipc::Deadline deadline) {
  const auto enter = [&](int) -> Status {
    if (landlock_abi > 0) {
      RETURN_IF_ERROR(RestrictFiles(PlanLandlock(landlock_abi, policy)));
    }
    RETURN_IF_ERROR(FilterCalls(forbidden));
    _exit(0);
  };
  ASSIGN_OR_RETURN(const ContainedProcess process,
                   StartContained({tier, policy, outside_id}, enter, deadline));
  return AwaitSuccess(process);
}

// What a process may turn off for itself is seen without doing it.
std::vector<std::string> MissingSpeculationControls() {
  struct Control {
    unsigned long which;
    const char* name;
  };
  std::vector<std::string> missing;
  for (const auto& [which, name] :
       {Control{PR_SPEC_STORE_BYPASS, "speculative store bypass"},
        Control{PR_SPEC_INDIRECT_BRANCH, "indirect branch speculation"}}) {
    if (prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0) == PR_SPEC_ENABLE) {
      missing.push_back(std::string("backends run with ") + name +
                        ": this kernel lets no process turn it off");
    }
  }
  return missing;
}

}  // namespace

SandboxReport ProbeSandbox(ipc::Deadline deadline) {
  SandboxReport report;
  report.landlock_abi = LandlockAbi();
  const Result<Policy> libraries_alone = MakePolicy(Plugin(), {});
  if (!libraries_alone) {
    report.reasons.push_back(libraries_alone.error().message());
    return report;
  }

  // With an id of its own first, which needs privileges; tier before id.
  struct Attempt {
    Tier tier;
    bool own_uid;
  };
  for (const auto [tier, own_uid] :
       {Attempt{Tier::kFull, true}, Attempt{Tier::kFull, false},
        Attempt{Tier::kReduced, true}, Attempt{Tier::kReduced, false}}) {
    if (own_uid && geteuid() != 0) continue;
    if (tier == Tier::kReduced && report.landlock_abi == 0) continue;
    const std::optional<uint32_t> outside_id =
        own_uid ? std::optional(OutsideId(getpid(), 0)) : std::nullopt;
    const auto attempt = [&](Forbidden forbidden) {
      return Try(tier, *libraries_alone, outside_id, report.landlock_abi,
                 forbidden, deadline);
    };
    const Status named = attempt(Forbidden::kNotify);
    const Status status = named.ok() ? named : attempt(Forbidden::kKill);
    if (status.ok()) {
      report.tier = tier;
      report.own_uid = own_uid;
      report.forbidden = named.ok() ? Forbidden::kNotify : Forbidden::kKill;
      if (!named.ok()) {
        report.reasons.push_back(
            "for which system call a backend was killed cannot be told: "
            "seccomp's notifications, which need Linux 5.19 and no other "
            "listener, fail here: " +
            named.message());
      }
      break;
    }
    report.reasons.push_back(std::string("tier ") + TierName(tier) +
                             (own_uid ? " with a uid of its own: " : ": ") +
                             status.message());
  }
  for (std::string& missing : MissingSpeculationControls()) {
    report.reasons.push_back(std::move(missing));
  }
  for (std::string& missing : MissingFrom(report.landlock_abi)) {
    report.reasons.push_back(std::move(missing));
  }
  if (report.tier != Tier::kNone && !report.own_uid) {
    report.reasons.push_back(
        "backends run under the application's uid and share its per-uid "
        "limits; start as root for a uid of their own");
  }
  return report;
}

}  // namespace bulkhead::sandbox
