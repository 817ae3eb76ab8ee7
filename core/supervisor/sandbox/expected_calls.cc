// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/expected_calls.h"

#include <linux/audit.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/file_mappings.h"
#include "core/supervisor/sandbox/syscall_tables.h"
#include "ipc/lockdown_filters.h"

namespace bulkhead::sandbox {
namespace {

// Returns whether the file is /dev/null, which is stdin and stdout of a worker
// until bulkheadd gives it others.
bool IsNull(const struct stat& file) {
  return S_ISCHR(file.st_mode) && file.st_rdev == makedev(1, 3);
}

bool ReadMemory(pid_t thread, uint64_t address, void* into, size_t bytes) {
  const iovec local = {.iov_base = into, .iov_len = bytes};
  const iovec remote = {.iov_base = reinterpret_cast<void*>(address),
                        .iov_len = bytes};
  return process_vm_readv(thread, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

bool WriteMemory(pid_t thread, uint64_t address, const void* from,
                 size_t bytes) {
  const iovec local = {.iov_base = const_cast<void*>(from), .iov_len = bytes};
  const iovec remote = {.iov_base = reinterpret_cast<void*>(address),
                        .iov_len = bytes};
  return process_vm_writev(thread, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

// Returns whether the sock_fprog at `address` in the memory of `thread`, an
// argument of seccomp(), contains the program `expected`.
bool HasProgram(pid_t thread, uint64_t address,
                const std::vector<sock_filter>& expected) {
  sock_fprog program = {};
  if (!ReadMemory(thread, address, &program, sizeof(program)) ||
      program.len != expected.size()) {
    return false;
  }
  std::vector<sock_filter> found(expected.size());
  const size_t bytes = found.size() * sizeof(sock_filter);
  return ReadMemory(thread, reinterpret_cast<uint64_t>(program.filter),
                    found.data(), bytes) &&
         std::ranges::equal(FilterBytes(found), FilterBytes(expected));
}

// Replaces the program of that sock_fprog by `program`. The worker has reserved
// room for a program of any length (ipc/lockdown_filters.h).
bool ReplaceProgram(pid_t thread, uint64_t address,
                    const std::vector<sock_filter>& program) {
  sock_fprog header = {};
  if (program.size() > BPF_MAXINSNS ||
      !ReadMemory(thread, address, &header, sizeof(header))) {
    return false;
  }
  header.len = static_cast<unsigned short>(program.size());
  const auto bytes = FilterBytes(program);
  return WriteMemory(thread, reinterpret_cast<uint64_t>(header.filter),
                     bytes.data(), bytes.size()) &&
         WriteMemory(thread, address, &header, sizeof(header)) &&
         // A hostile header may overlap the program that was just written.
         HasProgram(thread, address, program);
}

// Returns whether the error only means that root without CAP_DAC_READ_SEARCH
// may not see the descriptors of a process with another uid. An ordinary user
// gets this error only for a process that hides its descriptors.
bool CannotLook(const std::error_code& error) {
  return error == std::errc::permission_denied && geteuid() == 0;
}

std::string DescriptorsOf(pid_t process) {
  return "/proc/" + std::to_string(process) + "/fd";
}

}  // namespace

ExpectedCalls::ExpectedCalls(SessionLockdown lockdown, bool reads_memory,
                             HeldParts& parts)
    : lockdown_(std::move(lockdown)),
      reads_memory_(reads_memory),
      held_files_(parts) {}

void ExpectedCalls::CloneAnswered() {
  if (expected_clones_ > 0) --expected_clones_;
  if (clones_under_way_ > 0) --clones_under_way_;
}

ExpectedCalls::Decision ExpectedCalls::Decide(const PendingCall& call) {
  if (call.architecture != AUDIT_ARCH_X86_64 || call.process == 0 ||
      !IsAsked(call.number, call.arguments)) {
    return Decision::kRefuse;
  }
  if (zygote_ == 0) zygote_ = call.process;
  if (call.number == SYS_seccomp) return DecideFilter(call);
  // Allows a worker a step once, if the call is as `expected`. `done` records
  // the step.
  const auto once = [&](bool& done, bool expected) {
    if (call.process == zygote_ || done || !expected) return Decision::kRefuse;
    done = true;
    return Decision::kGoOn;
  };
  if (call.number == SYS_landlock_create_ruleset) {
    return once(workers_[call.process].made_ruleset, IsRuleset(call));
  }
  if (call.number == SYS_landlock_restrict_self) {
    Progress& progress = workers_[call.process];
    return once(progress.entered_ruleset,
                progress.made_ruleset && EntersRuleset(call));
  }
  // The only other call with Rule::asks is the clone of a worker.
  if (call.number != SYS_clone || call.process != zygote_ ||
      clones_under_way_ >= expected_clones_) {
    return Decision::kRefuse;
  }
  ++clones_under_way_;
  return Decision::kGoOn;
}

bool ExpectedCalls::IsRuleset(const PendingCall& call) const {
  if (!lockdown_.handled) return false;
  if (!reads_memory_) return true;
  // The attributes in the memory of the caller replace this copy.
  auto handled = *lockdown_.handled;
  return call.threads == 1 && call.arguments[1] == sizeof(handled) &&
         ReadMemory(call.thread, call.arguments[0], handled.data(),
                    sizeof(handled)) &&
         handled == *lockdown_.handled;
}

bool ExpectedCalls::EntersRuleset(const PendingCall& call) const {
  if (!reads_memory_) return true;
  std::error_code error;
  const auto link = std::filesystem::read_symlink(
      DescriptorsOf(call.thread) + "/" + std::to_string(call.arguments[0]),
      error);
  return error ? CannotLook(error) : link == "anon_inode:[landlock-ruleset]";
}

ExpectedCalls::Decision ExpectedCalls::DecideFilter(const PendingCall& call) {
  Progress& progress = workers_[call.process];
  const std::vector<sock_filter> expected =
      Expected(call.process, progress.filters);
  if (expected.empty() || call.threads != 1 ||
      (reads_memory_ &&
       !HasProgram(call.thread, call.arguments[2], expected))) {
    return Decision::kRefuse;
  }
  ++progress.filters;
  // Only the last filter of a worker, the second one, is checked further.
  if (call.process == zygote_ || progress.filters == 1) return Decision::kGoOn;
  if (lockdown_.handled && !progress.entered_ruleset) return Decision::kRefuse;
  if (reads_memory_) {
    const Decision decision = DecideDescriptors(call.thread);
    if (decision != Decision::kGoOn) return decision;
    // Refuses a robust list: when its thread ends, the kernel wakes the waiters
    // on the list's addresses, which may lie in pages of files that other
    // processes map.
    void* list = nullptr;
    size_t bytes = 0;
    if (syscall(SYS_get_robust_list, call.thread, &list, &bytes) != 0 ||
        list != nullptr) {
      return Decision::kRefuse;
    }
    // Stage 2 lets the worker map no further file, only its session's memory.
    const auto mapped = FileMappings(call.thread);
    if (!mapped || mapped->empty()) return Decision::kRefuse;
    if (const Decision held = HoldFiles(call.thread, *mapped);
        held != Decision::kGoOn) {
      return held;
    }
    if (!ReplaceProgram(call.thread, call.arguments[2],
                        KeptFromFiles(RangesOf(*mapped), expected))) {
      return Decision::kRefuse;
    }
  }
  progress.waiting = call.id;
  return Decision::kAwaitDescriptors;
}

ExpectedCalls::Decision ExpectedCalls::HoldFiles(
    pid_t process, const std::vector<FileMapping>& mappings) {
  // The mappings of a driver are not files, and may be as large as the device.
  if (!lockdown_.devices.empty()) return Decision::kGoOn;
  // Almost always all files are held already. The others are files that vendor
  // code has mapped since the zygote was ready.
  const uint64_t before = held_files_.bytes();
  Status held = held_files_.Add(process, mappings, late_bytes_left_,
                                HeldFiles::When::kLater);
  if (held.ok()) late_bytes_left_ -= held_files_.bytes() - before;
  for (bool done = false; held.ok() && !done;) {
    const auto step = held_files_.Step();
    if (step) {
      done = *step;
    } else {
      held = step.error();
    }
  }
  if (held.ok()) return Decision::kGoOn;
  return held.code() == Code::kResourceExhausted ? Decision::kCannotTell
                                                 : Decision::kRefuse;
}

ExpectedCalls::Decision ExpectedCalls::DecideDescriptors(pid_t process) const {
  std::error_code error;
  std::filesystem::directory_iterator descriptors(DescriptorsOf(process),
                                                  error);
  for (; !error && descriptors != std::filesystem::directory_iterator();
       descriptors.increment(error)) {
    struct stat file = {};
    if (stat(descriptors->path().c_str(), &file) != 0) return Decision::kRefuse;
    const std::string number = descriptors->path().filename();
    // Until bulkheadd gives it others, a worker has these standard descriptors:
    // /dev/null as stdin and stdout, and the zygote's log, a socket, as stderr.
    const bool standard = number == "0" || number == "1"
                              ? IsNull(file)
                              : number == "2" && S_ISSOCK(file.st_mode);
    const bool granted = S_ISCHR(file.st_mode) &&
                         std::ranges::find(lockdown_.devices, file.st_rdev) !=
                             lockdown_.devices.end();
    if (!standard && !granted) return Decision::kRefuse;
  }
  if (error == std::errc::too_many_files_open ||
      error == std::errc::too_many_files_open_in_system) {
    return Decision::kCannotTell;
  }
  return error && !CannotLook(error) ? Decision::kRefuse : Decision::kGoOn;
}

void ExpectedCalls::Give(pid_t process, WorkerDescriptors descriptors) {
  workers_[process].descriptors = std::move(descriptors);
}

std::optional<ExpectedCalls::Ready> ExpectedCalls::TakeReady(pid_t process) {
  const auto found = workers_.find(process);
  if (found == workers_.end() || !found->second.waiting ||
      !found->second.descriptors) {
    return std::nullopt;
  }
  return Ready{*std::exchange(found->second.waiting, std::nullopt),
               *std::exchange(found->second.descriptors, std::nullopt)};
}

std::vector<sock_filter> ExpectedCalls::Expected(pid_t process,
                                                 size_t index) const {
  if (index == 0) {
    return process == zygote_ ? ipc::NoDescriptorsAreSent()
                              : ipc::OnlyItselfMayBeSignaled(process);
  }
  if (index == 1 && process != zygote_) return lockdown_.filter;
  return {};
}

bool CanReadMemory(pid_t process, const uint64_t* address, uint64_t expected) {
  uint64_t found = 0;
  return ReadMemory(process, reinterpret_cast<uint64_t>(address), &found,
                    sizeof(found)) &&
         found == expected;
}

}  // namespace bulkhead::sandbox
