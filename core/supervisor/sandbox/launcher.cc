// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/launcher.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/contained_process.h"
#include "core/supervisor/sandbox/errno_status.h"
#include "core/supervisor/sandbox/log_socket.h"
#include "ipc/descriptors.h"
#include "ipc/message_socket.h"

namespace bulkhead::sandbox {
namespace {

// Two descriptors in addition to the reaper's. Exec closes them.
constexpr int kSetupFd = ipc::kReaperDescriptorCount;
constexpr int kReaperExecutableFd = kSetupFd + 1;
constexpr int kDescriptorCount = kReaperExecutableFd + 1;

// Gives the descriptor source[i] the number i, for each i.
Status Arrange(std::array<int, kDescriptorCount> source) {
  // Moves every source above the targets first, since one source may have the
  // number that another will get.
  for (int& fd : source) {
    fd = fcntl(fd, F_DUPFD_CLOEXEC, kDescriptorCount);
    if (fd < 0) {
      return SandboxStepFailed("cannot arrange descriptors");
    }
  }
  for (int target = 0; target < kDescriptorCount; ++target) {
    const int flags = target < ipc::kReaperDescriptorCount ? 0 : O_CLOEXEC;
    // Cannot fail: source and target differ, and both are below the limit.
    dup3(source[static_cast<size_t>(target)], target, flags);
  }
  return Status();
}

// Executes the reaper. Uses only the descriptors that Arrange has put in place.
// Returns only on failure, with the reason.
Status ExecuteReaper(const Limits& limits) {
  // Closes the descriptors of bulkheadd, such as sockets of other backends.
  if (syscall(SYS_close_range, kDescriptorCount, ~0u, 0) != 0) {
    return SandboxStepFailed("cannot close descriptors");
  }
  RETURN_IF_ERROR(SetProgramLimits(limits));
  char name[] = "bulkhead-reaper";
  char zone[] = "TZ=UTC0";
  const std::array<char*, 2> arguments = {name, nullptr};
  const std::array<char*, 2> environment = {zone, nullptr};
  // Executes by descriptor, since the new root lacks the executable's path.
  syscall(SYS_execveat, kReaperExecutableFd, "", arguments.data(),
          environment.data(), AT_EMPTY_PATH);
  return SandboxStepFailed(
      "cannot execute the reaper in its sandbox; is it executable for all?");
}

// Opens the private copy of the plugin in the new root. Returns an empty
// descriptor if there is none.
Result<ipc::UniqueFd> OpenCopy(const LaunchRequest& request) {
  if (request.tier != Tier::kFull) return ipc::UniqueFd();
  for (const VisiblePath& visible : request.policy.visible) {
    if (visible.contents < 0) continue;
    ipc::UniqueFd copy(open(visible.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!copy) return SandboxStepFailed("cannot open the plugin's copy");
    return copy;
  }
  return ipc::UniqueFd();
}

Status CheckReadable(const LaunchRequest& request) {
  if (!request.outside_id) return Status();
  struct stat plugin = {};
  // Checks only the shared object. The zygote reports other files.
  if (fstat(request.plugin, &plugin) != 0) {
    return ErrnoStatus(Code::kInternal, "cannot stat the plugin's descriptor");
  }
  if ((plugin.st_mode & S_IROTH) == 0) {
    return Status(Code::kBackendUnavailable,
                  "the plugin's shared object is not readable for the uid of "
                  "its sandbox; chmod o+r it");
  }
  return Status();
}

}  // namespace

uint32_t OutsideId(pid_t supervisor, unsigned backend) {
  const uint32_t number =
      static_cast<uint32_t>(supervisor) << 5 | (backend & 0x1f);
  return 0x70000000 + (number & 0x07ffffff);
}

Result<LaunchedReaper> Launch(const LaunchRequest& request) {
  RETURN_IF_ERROR(CheckReadable(request));
  auto control = ipc::MakeSocketPair();
  if (!control) return FromIpc(std::move(control).error());
  auto zygote_control = ipc::MakeSocketPair();
  if (!zygote_control) return FromIpc(std::move(zygote_control).error());
  ASSIGN_OR_RETURN(LogSocket log, MakeLogSocket());
  const ipc::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) {
    return SandboxStepFailed("cannot open /dev/null");
  }

  const auto enter = [&](int setup) -> Status {
    ASSIGN_OR_RETURN(const ipc::UniqueFd copy, OpenCopy(request));
    std::array<int, kDescriptorCount> source;
    source[0] = null.get();
    source[1] = null.get();
    source[2] = log.writer.get();
    source[ipc::kReaperControlFd] = control->second.get();
    source[ipc::kReaperApplicationFd] = request.application;
    source[ipc::kReaperWorkerExecutableFd] = request.worker_executable;
    source[ipc::kReaperZygoteControlFd] = zygote_control->second.get();
    source[ipc::kReaperLockdownFd] = request.lockdown;
    source[ipc::kReaperPluginFd] = copy ? copy.get() : request.plugin;
    source[kSetupFd] = setup;
    source[kReaperExecutableFd] = request.reaper_executable;
    RETURN_IF_ERROR(Arrange(source));
    // Arrange may have replaced `setup` by another descriptor.
    EndWithReason(kSetupFd, ExecuteReaper(request.policy.limits));
  };
  std::unique_ptr<Cgroup> cgroup;
  if (request.cgroup != nullptr && !request.cgroup->directory.empty()) {
    ASSIGN_OR_RETURN(cgroup,
                     Cgroup::Create(*request.cgroup, request.policy.limits));
  }
  Result<ContainedProcess> process = StartContained(
      {request.tier, request.policy, request.outside_id, cgroup.get()}, enter,
      request.deadline);
  if (!process) return std::move(process).error();
  return LaunchedReaper{.pidfd = std::move(process->pidfd),
                        .pid = process->pid,
                        .control = std::move(control->first),
                        .zygote_control = std::move(zygote_control->first),
                        .log = std::move(log.reader),
                        .cgroup = std::move(cgroup)};
}

}  // namespace bulkhead::sandbox
