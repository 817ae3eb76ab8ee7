// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/gaps.h"

#include <errno.h>

#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "core/supervisor/sandbox/landlock.h"
#include "core/supervisor/sandbox/remedies.h"

namespace bulkhead::sandbox {
namespace {

using Step = NamespaceRefusal::Step;

constexpr char kNothingStarts[] =
    "no backend is started, whatever the floor is";
constexpr char kVersion2Alone[] =
    "boot with systemd.unified_cgroup_hierarchy=1 (or cgroup_no_v1=all without "
    "systemd) on the kernel's command line";
constexpr char kCallsOfFull[] =
    "clone and unshare with new namespaces, mount, umount2, open_tree, "
    "move_mount, mount_setattr, pivot_root and sethostname";

struct Cause {
  std::string evidence;
  std::string remedy;
};

bool KernelBefore(const MachineFacts& facts, int major, int minor) {
  int has_major = 0;
  int has_minor = 0;
  if (std::sscanf(facts.kernel_release.c_str(), "%d.%d", &has_major,
                  &has_minor) != 2) {
    return false;
  }
  return has_major < major || (has_major == major && has_minor < minor);
}

bool IsWsl(const MachineFacts& facts) {
  return facts.kernel_release.find("icrosoft") != std::string::npos;
}

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

std::string StepText(Step step) {
  switch (step) {
    case Step::kUserNamespace:
      return "clone() with a new user namespace";
    case Step::kOtherNamespaces:
      return "unshare() of the other namespaces in a new user namespace";
    case Step::kMount:
      return "mount() in new namespaces";
    case Step::kNothing:
      break;
  }
  return "nothing";
}

// Explains a refusal by its errno, if no known switch of this machine explains
// it.
Cause CauseByError(const MachineFacts& facts) {
  const auto& [step, error] = facts.refusal;
  if (step == Step::kNothing) {
    return {
        "namespaces and mounts by themselves are not refused",
        "the message names the step that failed: if it concerns a file of this "
        "system, repair that file; otherwise report a bug"};
  }
  const std::string seen = StepText(step) + " is refused: " + ErrorText(error);
  switch (error) {
    case EINVAL:
    case ENOSYS:
      return {seen + ", as by a kernel without namespaces",
              "boot a kernel that has CONFIG_USER_NS, CONFIG_PID_NS, "
              "CONFIG_NET_NS, CONFIG_IPC_NS and CONFIG_UTS_NS"};
    case ENOSPC:
    case EUSERS:
      return {seen + ", as by a limit on namespaces",
              "as root: sysctl -a -r '^user.max_.*_namespaces' shows the "
              "limits, of which none may be 0; namespaces nest 32 deep"};
    case EAGAIN:
      return {seen + ", as by a limit on processes",
              "raise ulimit -u of this user"};
    case EACCES:
      return {seen + ", as by a security module",
              "as root: journalctl -k -g denied shows its rule; in a "
              "container: --security-opt apparmor=unconfined, or "
              "--security-opt label=disable for SELinux"};
    default:
      return {seen + ", as in a chroot or a container",
              "start it outside of the chroot; in a container: " +
                  AllowCalls(facts, kCallsOfFull)};
  }
}

// Returns the causes for which tier full failed: each known switch of this
// machine, or if there is none, a cause by the errno.
std::vector<Cause> CausesOfNoNamespaces(const MachineFacts& facts) {
  if (KernelBefore(facts, 5, 13)) {
    return {
        {"this is Linux " + facts.kernel_release + ", and Bulkhead needs 5.13",
         IsWsl(facts)
             ? "in Windows: wsl --set-version DISTRIBUTION 2, since version "
               "1 has no Linux kernel; then wsl --update"
             : "boot a newer kernel, for instance that of RHEL 9, Debian 12 "
               "or Ubuntu 22.04"}};
  }
  std::vector<Cause> causes;
  if (facts.seccomp_mode == 2 && facts.refusal.error == EPERM) {
    causes.push_back(
        {StepText(facts.refusal.step) +
             " is refused: " + ErrorText(facts.refusal.error) +
             ", and this process was started under a seccomp filter "
             "(Seccomp: 2 in /proc/self/status)" +
             (facts.container.empty() ? "" : " in " + facts.container),
         AllowCalls(facts, kCallsOfFull)});
  }
  if (!facts.system_administrator &&
      facts.apparmor_restricts_user_namespaces.value_or(0) != 0) {
    causes.push_back(
        {"kernel.apparmor_restrict_unprivileged_userns is 1 (Ubuntu since "
         "23.10): AppArmor takes all capabilities from whoever makes a user "
         "namespace and has no profile that allows it",
         "as root, write to /etc/apparmor.d/bulkheadd:\n"
         "  abi <abi/4.0>,\n"
         "  include <tunables/global>\n"
         "  profile bulkheadd " +
             facts.executable +
             " flags=(unconfined) {\n"
             "    userns,\n"
             "  }\n"
             "and load it: apparmor_parser -r /etc/apparmor.d/bulkheadd\n"
             "or, which lets every program: " +
             SetSysctl("kernel.apparmor_restrict_unprivileged_userns=0")});
  }
  if (!facts.system_administrator &&
      facts.unprivileged_user_namespaces.value_or(1) == 0) {
    causes.push_back({"kernel.unprivileged_userns_clone is 0 (older Debian)",
                      SetSysctl("kernel.unprivileged_userns_clone=1")});
  }
  if (facts.root && !facts.file_capabilities &&
      facts.refusal.step == Step::kNothing) {
    causes.push_back(
        {"this process is root without CAP_SETFCAP, without which nobody may "
         "show the uid 0 to a user namespace",
         AddCapabilities(facts, {"SETUID", "SETGID", "KILL"}) +
             ", so that backends have a uid of their own\nor start the "
             "application as another user"});
  }
  if (facts.most_user_namespaces.value_or(1) == 0) {
    causes.push_back({"user.max_user_namespaces is 0",
                      SetSysctl("user.max_user_namespaces=15000")});
  }
  if (causes.empty()) causes.push_back(CauseByError(facts));
  return causes;
}

void ExplainTier(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.tier == Tier::kFull) return;
  // Only the first cause repeats the failure, so that it is printed once.
  std::string before = facts.full_failure + "; ";
  for (Cause& cause : CausesOfNoNamespaces(facts)) {
    gaps.push_back(
        {"namespaces and a root of its own (tier full)",
         std::exchange(before, "") + cause.evidence, std::move(cause.remedy),
         facts.tier == Tier::kReduced
             ? "Landlock and seccomp alone keep a backend from this system "
               "(tier reduced), and none is started unless "
               "BULKHEAD_SANDBOX_FLOOR=reduced"
             : kNothingStarts});
  }
  if (facts.tier == Tier::kReduced) return;
  if (!facts.seccomp_filters) {
    gaps.push_back({"seccomp filters",
                    "there is no /proc/sys/kernel/seccomp, as with a kernel "
                    "without CONFIG_SECCOMP_FILTER",
                    "boot a kernel that has CONFIG_SECCOMP_FILTER",
                    kNothingStarts});
  } else if (!facts.reduced_failure.empty()) {
    gaps.push_back(
        {"Landlock and seccomp together (tier reduced)", facts.reduced_failure,
         "repair the step that the message names; it may be a limit of "
         "this user (ulimit -a), or a filter that this process was "
         "started under",
         kNothingStarts});
  }
}

Cause CauseOfNoLandlock(const MachineFacts& facts) {
  const std::string seen = "landlock_create_ruleset() is refused: " +
                           ErrorText(facts.landlock_error);
  if (facts.landlock_error == EOPNOTSUPP) {
    const std::string modules =
        "landlock," +
        facts.security_modules.value_or("$(cat /sys/kernel/security/lsm)");
    return {seen + ": it is in the kernel but not among its active modules" +
                (facts.security_modules ? " (/sys/kernel/security/lsm: " +
                                              *facts.security_modules + ")"
                                        : ""),
            IsWsl(facts) ? "in Windows, in %UserProfile%\\.wslconfig below "
                           "[wsl2]: kernelCommandLine = lsm=" +
                               modules + "\nthen: wsl --shutdown"
                         : "add lsm=" + modules +
                               " to GRUB_CMDLINE_LINUX in /etc/default/grub, "
                               "then: update-grub (or grub2-mkconfig -o "
                               "/boot/grub2/grub.cfg), and boot"};
  }
  if (KernelBefore(facts, 5, 13)) {
    return {seen + ": Linux " + facts.kernel_release +
                " is older than 5.13, which brought it",
            "boot a newer kernel"};
  }
  if (facts.seccomp_mode == 2) {
    return {seen +
                ", and this process was started under a seccomp filter "
                "(Seccomp: 2 in /proc/self/status)",
            AllowCalls(facts,
                       "landlock_create_ruleset, landlock_add_rule and "
                       "landlock_restrict_self")};
  }
  return {seen + ": Linux " + facts.kernel_release +
              " was built without CONFIG_SECURITY_LANDLOCK",
          IsWsl(facts) ? "in Windows: wsl --update"
                       : "boot a kernel that has it, for instance that of "
                         "Debian 12, Ubuntu 22.04 or Fedora 35"};
}

void ExplainLandlock(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  const bool full = facts.tier == Tier::kFull;
  if (facts.landlock_abi == 0) {
    Cause cause = CauseOfNoLandlock(facts);
    gaps.push_back({"Landlock", std::move(cause.evidence),
                    std::move(cause.remedy),
                    full ? "one wall less around files; namespaces stand"
                         : "there is no tier reduced to fall back to"});
    return;
  }
  std::string unrestricted;
  for (const std::string& what : MissingFrom(facts.landlock_abi)) {
    unrestricted += (unrestricted.empty() ? "" : ", ") + what;
  }
  if (unrestricted.empty()) return;
  gaps.push_back({"a newer Landlock",
                  "ABI " + std::to_string(facts.landlock_abi) + " of Linux " +
                      facts.kernel_release + " does not restrict " +
                      unrestricted,
                  "boot Linux 6.12 or newer, which has ABI 6",
                  full ? "one wall less; namespaces and seccomp stand"
                       : "seccomp alone refuses these"});
}

void ExplainOwnUid(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.own_uid || facts.tier == Tier::kNone) return;
  gaps.push_back(
      {"a uid of their own for backends",
       facts.root ? facts.own_uid_failure
                  : "the application was not started as root",
       facts.root ? AddCapabilities(facts, {"SETUID", "SETGID", "KILL"}) +
                        "\nin a container with a user namespace, where uids "
                        "from 0x70000000 are not mapped, use that of the host "
                        "(--userns=host)"
                  : "start the application as root",
       "backends share this user's uid, its supplementary groups and its "
       "limits on processes and on descriptors in flight"});
}

void ExplainNaming(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.forbidden == Forbidden::kNotify || facts.tier == Tier::kNone) {
    return;
  }
  const bool old = KernelBefore(facts, 5, 19);
  gaps.push_back(
      {"the name of the system call for which a backend was killed",
       "seccomp's notifications fail here: " + facts.naming_failure +
           (old ? "; they need Linux 5.19, and this is " + facts.kernel_release
                : "; a filter that this process was started under may have a "
                  "listener already, beside which there is no second"),
       old ? "boot Linux 5.19 or newer"
           : "start it under no filter with a listener: in a container, a "
             "seccomp profile without SCMP_ACT_NOTIFY",
       "a violation is prevented and reported all the same, but not which "
       "call it was; and nobody is asked before a backend clones a process or "
       "installs a filter while it is loaded"});
}

void ExplainMemory(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.reads_memory || facts.forbidden != Forbidden::kNotify ||
      facts.tier == Tier::kNone) {
    return;
  }
  gaps.push_back(
      {"a comparison of the filters that backends install",
       "process_vm_readv() on a backend is refused",
       facts.root ? "give it CAP_SYS_PTRACE (in a container, "
                    "--cap-add=SYS_PTRACE)"
                  : "allow process_vm_readv on its own children: in Yama's "
                    "kernel.yama.ptrace_scope at most 1, and in a container in "
                    "its seccomp profile",
       "the number of filters of a backend is bounded and not their content, "
       "so vendor code may fill the kernel's audit log; and what a session "
       "maps "
       "of files and has as descriptors is not checked, so it may tell other "
       "users by these what it decodes"});
}

void ExplainHostName(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.own_host_name || facts.tier != Tier::kFull) return;
  gaps.push_back({"a host name of their own for backends",
                  "sethostname() is refused in a new UTS namespace",
                  AllowCalls(facts, "sethostname"),
                  "a backend learns the name of this host while it is loaded"});
}

void ExplainSpeculation(const MachineFacts& facts,
                        std::vector<SandboxGap>& gaps) {
  for (const SpeculationGap& gap : facts.speculation) {
    gaps.push_back({"a switch for " + gap.name,
                    "this kernel lets no process turn it off; it says of the "
                    "processor: " +
                        gap.vulnerability,
                    "if mitigations=off is on the kernel's command line, "
                    "replace it by " +
                        gap.argument +
                        "; else the processor or the virtual machine has no "
                        "such switch",
                    "a hostile backend has one more side channel to what else "
                    "runs on its processor"});
  }
}

// Explains where other users see traces of a session: kernel's log and /proc.
void ExplainTraces(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.tier == Tier::kNone) return;
  if (facts.logs_faults.value_or(0) != 0) {
    gaps.push_back(
        {"silence of the kernel about faults",
         "debug.exception-trace is 1: a session can have the kernel log some "
         "registers and 64 bytes (two faults at once, a jump into [vsyscall])",
         SetSysctl("debug.exception-trace=0"),
         "what a stream contains can be hidden there, some 100 bytes for each "
         "worker that dies of it, from those who may read the kernel's log"});
  }
  if (!facts.hides_processes) {
    gaps.push_back(
        {"a /proc that shows users only their own processes",
         "/proc is mounted without hidepid",
         std::string("as root: mount -o remount,hidepid=invisible") +
             (facts.root ? "" : ",gid=GROUP") +
             " /proc, and the same in /etc/fstab" +
             (facts.root ? ""
                         : "\nGROUP is a group of this user; without it, "
                           "bulkheadd cannot check its own backends"),
         "other users of this machine see how much time and memory a session "
         "uses, how many threads it has, and which signals it blocks"});
  }
}

// Returns how an operator can provide a directory for cgroups.
std::string WayToCgroup(const MachineFacts& facts) {
  const auto& [directory, controllers, mount, writable, evidence] =
      facts.cgroup;
  if (writable) {
    return "mkdir " + mount + "/bulkhead; export BULKHEAD_CGROUP=" + mount +
           "/bulkhead\nif version 1 has the controllers: " + kVersion2Alone;
  }
  if (facts.container == "kubernetes") {
    return "there is no way that is not privileged; give the container "
           "resources.limits, which bound all of it";
  }
  if (!facts.container.empty()) {
    return facts.container +
           " run --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:rw "
           "-e BULKHEAD_CGROUP=DIRECTORY ..., where DIRECTORY was made by "
           "mkdir below /sys/fs/cgroup";
  }
  if (mount.empty()) return kVersion2Alone;
  if (facts.root) {
    return "if systemd starts it: in its unit, ProtectControlGroups=no, and "
           "the directory of BULKHEAD_CGROUP";
  }
  return "systemd-run --user --scope COMMAND starts the application where "
         "systemd delegates to this user";
}

void ExplainCgroup(const MachineFacts& facts, std::vector<SandboxGap>& gaps) {
  if (facts.tier == Tier::kNone) return;
  const CgroupParent& cgroup = facts.cgroup;
  const std::string cost =
      "memory and tasks are limited for each process of a backend, not for "
      "all of them together";
  if (cgroup.directory.empty()) {
    gaps.push_back({"limits for a backend as a whole (cgroup version 2)",
                    cgroup.evidence, WayToCgroup(facts), cost});
    return;
  }
  if (cgroup.evidence.empty()) return;
  gaps.push_back(
      {"some limits for a backend as a whole (cgroup version 2)",
       cgroup.evidence,
       "as root: echo '+memory +pids +cpu' > " + cgroup.directory +
           "/cgroup.subtree_control, and before it the same in each directory "
           "above\nif version 1 has the controllers: " +
           kVersion2Alone,
       cost});
}

}  // namespace

std::vector<SandboxGap> ExplainGaps(const MachineFacts& facts) {
  std::vector<SandboxGap> gaps;
  ExplainTier(facts, gaps);
  ExplainLandlock(facts, gaps);
  ExplainOwnUid(facts, gaps);
  ExplainNaming(facts, gaps);
  ExplainMemory(facts, gaps);
  ExplainHostName(facts, gaps);
  ExplainCgroup(facts, gaps);
  ExplainTraces(facts, gaps);
  ExplainSpeculation(facts, gaps);
  return gaps;
}

}  // namespace bulkhead::sandbox
