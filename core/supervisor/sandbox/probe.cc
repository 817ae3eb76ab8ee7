// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <utility>

#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/contained_process.h"
#include "core/supervisor/sandbox/errno_status.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/landlock.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/machine_facts.h"
#include "core/supervisor/sandbox/syscall_tables.h"
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

// Installs a filter on every thread. Returns the result of seccomp(): with
// NEW_LISTENER the listener, otherwise 0; a negative number on failure.
long Filter(std::vector<sock_filter> filter, unsigned long flags) {
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                              .filter = filter.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_TSYNC | flags, &program);
}

Status FilterCalls(Forbidden forbidden) {
  const bool notifies = forbidden == Forbidden::kNotify;
  Table zygote = ZygoteTable();
  // Calls must not wait for a decision: no process reads this listener.
  for (Rule& rule : zygote) rule.asks = false;
  // Without TSYNC_ESRCH, a failure could return a thread id, which looks like
  // the descriptor of the listener.
  const long stage1 =
      Filter(CompileFilter(zygote, forbidden),
             notifies ? SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
                            SECCOMP_FILTER_FLAG_NEW_LISTENER |
                            SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
                      : 0);
  if (stage1 < 0 || Filter(SessionFilter(forbidden), 0) != 0) {
    return ErrnoStatus(Code::kSandboxUnavailable, "cannot apply seccomp");
  }
  if (!notifies) return Status();
  close(static_cast<int>(stage1));
  // If bulkheadd dies, nobody has the listener open, and a forbidden call must
  // fail. Tries a forbidden call now that the listener is closed.
  if (syscall(SYS_getsid, 0) >= 0 || errno != ENOSYS) {
    return Status(
        Code::kSandboxUnavailable,
        "the kernel does not refuse a forbidden system call after its "
        "listener was closed");
  }
  return Status();
}

// The value that the probe stores in `word`. bulkheadd then tries to read it in
// the probe's memory, at the same address as in its own.
constexpr uint64_t kWord = 0x62756c6b68656164;
uint64_t word = 0;

// The exit codes of a probe that is under all restrictions.
constexpr int kComplete = 0;
constexpr int kWithoutHostName = 2;

// The results of a probe that came under all restrictions.
struct Found {
  bool own_host_name = false;
  bool memory_is_readable = false;
};

// Waits for the child to end, and returns its exit code. StartContained() alone
// does not show success: a child that seccomp killed has closed the set-up
// socket too. Fails if this process may not kill the child, which may have
// another uid.
Result<int> AwaitSuccess(const ContainedProcess& process) {
  constexpr int kNoSignal = 0;
  Status killable;
  if (syscall(SYS_pidfd_send_signal, process.pidfd.get(), kNoSignal, nullptr,
              0) != 0) {
    killable = ErrnoStatus(Code::kSandboxUnavailable,
                           "cannot kill a process with a uid of its own");
  }
  siginfo_t ended = {};
  while (waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &ended,
                WEXITED) != 0) {
    if (errno != EINTR) {
      return ErrnoStatus(Code::kInternal, "cannot wait for the probe");
    }
  }
  RETURN_IF_ERROR(killable);
  if (ended.si_code == CLD_EXITED &&
      (ended.si_status == kComplete || ended.si_status == kWithoutHostName)) {
    return ended.si_status;
  }
  return Status(Code::kSandboxUnavailable,
                "a process under all restrictions was killed by signal " +
                    std::to_string(ended.si_status));
}

// Starts a child under all restrictions, as a backend is, and waits for its
// end. Fails with the reason if one of the restrictions fails.
Result<Found> Try(const Containment& containment, uint32_t landlock_abi,
                  Forbidden forbidden, ipc::Deadline deadline) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return ErrnoStatus(Code::kResourceExhausted, "cannot make a pipe");
  }
  // The child waits for the end of file on `held`. It ends when this process
  // closes `release`.
  const ipc::UniqueFd held(ends[0]);
  ipc::UniqueFd release(ends[1]);
  const auto enter = [&](int setup) -> Status {
    const int code = HasOwnHostName() ? kComplete : kWithoutHostName;
    word = kWord;
    // A backend is dumpable after exec, so bulkheadd may read its memory. The
    // probe runs without exec.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    release.reset();
    if (landlock_abi > 0) {
      RETURN_IF_ERROR(
          RestrictFiles(PlanLandlock(landlock_abi, containment.policy)));
    }
    RETURN_IF_ERROR(FilterCalls(forbidden));
    // Reports that all restrictions are in force; a backend does so by exec.
    close(setup);
    // Waits until the parent has read this memory and closed the pipe.
    char byte;
    if (read(held.get(), &byte, 1) != 0) _exit(1);
    _exit(code);
  };
  ASSIGN_OR_RETURN(const ContainedProcess process,
                   StartContained(containment, enter, deadline));
  const bool readable = CanReadMemory(process.pid, &word, kWord);
  release.reset();
  ASSIGN_OR_RETURN(const int code, AwaitSuccess(process));
  return Found{code == kComplete, readable};
}

// Returns the directory for cgroups only if a process under all restrictions
// can be moved into a cgroup there.
CgroupParent ProbeCgroup(
    const std::string& named,
    const std::function<Status(const Cgroup& cgroup)>& try_in) {
  CgroupParent parent = FindCgroupParent(named);
  if (parent.directory.empty()) return parent;
  RemoveStaleCgroups(parent);
  auto cgroup = Cgroup::Create(parent, Limits());
  const Status status = cgroup ? try_in(**cgroup) : cgroup.error();
  // The cgroup is removed again at the end of this function.
  if (status.ok()) return parent;
  parent.directory.clear();
  parent.controllers.clear();
  parent.evidence = status.message();
  return parent;
}

}  // namespace

SandboxReport ProbeSandbox(ipc::Deadline deadline, const std::string& cgroup) {
  MachineFacts facts = GatherMachineFacts();
  facts.landlock_abi = LandlockAbi();
  // With an empty plugin, the child sees only the libraries.
  const Result<Policy> libraries_alone = MakePolicy(Plugin(), {});
  Status exhausted;
  // Attempts in descending order of protection: a higher tier counts more than
  // a user id of its own, which needs privileges.
  struct Attempt {
    Tier tier;
    bool own_uid;
    std::string* failure;
  };
  for (const auto& [tier, own_uid, failure] :
       {Attempt{Tier::kFull, true, &facts.own_uid_failure},
        Attempt{Tier::kFull, false, &facts.full_failure},
        Attempt{Tier::kReduced, true, &facts.own_uid_failure},
        Attempt{Tier::kReduced, false, &facts.reduced_failure}}) {
    if (own_uid && !facts.root) continue;
    if (tier == Tier::kReduced && facts.landlock_abi == 0) continue;
    const std::optional<uint32_t> outside_id =
        own_uid ? std::optional(OutsideId(getpid(), 0)) : std::nullopt;
    const auto attempt = [&, tier = tier](
                             Forbidden forbidden,
                             const Cgroup* group = nullptr) -> Status {
      if (!libraries_alone) return libraries_alone.error();
      const auto tried = Try({tier, *libraries_alone, outside_id, group},
                             facts.landlock_abi, forbidden, deadline);
      if (!tried) return tried.error();
      facts.own_host_name = tried->own_host_name;
      facts.reads_memory = tried->memory_is_readable;
      return Status();
    };
    // Notifications need Linux 5.19. A tier without them protects as well, but
    // does not report which call was forbidden.
    const Status notified = attempt(Forbidden::kNotify);
    const Status status = notified.ok() ? notified : attempt(Forbidden::kKill);
    if (!status.ok()) {
      *failure = status.message();
      if (status.code() == Code::kResourceExhausted ||
          status.code() == Code::kDeadlineExceeded) {
        exhausted = status;
      }
      continue;
    }
    facts.tier = tier;
    facts.own_uid = own_uid;
    facts.forbidden = notified.ok() ? Forbidden::kNotify : Forbidden::kKill;
    facts.naming_failure = notified.message();
    facts.cgroup = ProbeCgroup(cgroup, [&](const Cgroup& group) {
      return attempt(facts.forbidden, &group);
    });
    break;
  }
  if (facts.tier != Tier::kFull) facts.refusal = FindNamespaceRefusal();
  return {.tier = facts.tier,
          .gaps = ExplainGaps(facts),
          .landlock_abi = facts.landlock_abi,
          .own_uid = facts.own_uid,
          .forbidden = facts.forbidden,
          .reads_memory = facts.reads_memory,
          .cgroup = std::move(facts.cgroup),
          .exhausted = std::move(exhausted)};
}

}  // namespace bulkhead::sandbox
