// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/expected_calls.h"

#include <linux/audit.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/supervisor/sandbox/bpf.h"
#include "ipc/lockdown_filters.h"

namespace bulkhead::sandbox {
namespace {

bool ReadMemory(pid_t thread, uint64_t address, void* into, size_t bytes) {
  const iovec local = {.iov_base = into, .iov_len = bytes};
  const iovec remote = {.iov_base = reinterpret_cast<void*>(address),
                        .iov_len = bytes};
  return process_vm_readv(thread, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

// Returns whether `thread` has the program `expected` at `address`, as
// seccomp() takes it.
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

}  // namespace

ExpectedCalls::ExpectedCalls(std::vector<sock_filter> session_filter,
                             bool reads_memory)
    : session_filter_(std::move(session_filter)), reads_memory_(reads_memory) {}

void ExpectedCalls::CloneAnswered() {
  if (expected_clones_ > 0) --expected_clones_;
  if (clones_under_way_ > 0) --clones_under_way_;
}

bool ExpectedCalls::Approves(const PendingCall& call) {
  if (call.architecture != AUDIT_ARCH_X86_64 || call.process == 0) return false;
  if (zygote_ == 0) zygote_ = call.process;
  if (call.number == SYS_seccomp) return ApprovesFilter(call);
  // The filter asks about no other clone than one of a worker (syscall_tables).
  if (call.number != SYS_clone || call.process != zygote_ ||
      clones_under_way_ >= expected_clones_) {
    return false;
  }
  ++clones_under_way_;
  return true;
}

bool ExpectedCalls::ApprovesFilter(const PendingCall& call) {
  size_t& installed = filters_[call.process];
  const std::vector<sock_filter> expected = Expected(call.process, installed);
  if (expected.empty() || call.threads != 1 ||
      (reads_memory_ &&
       !HasProgram(call.thread, call.arguments[2], expected))) {
    return false;
  }
  ++installed;
  return true;
}

std::vector<sock_filter> ExpectedCalls::Expected(pid_t process,
                                                 size_t index) const {
  if (index == 0) {
    return process == zygote_ ? ipc::NoDescriptorsAreSent()
                              : ipc::OnlyItselfMayBeSignaled(process);
  }
  if (index == 1 && process != zygote_) return session_filter_;
  return {};
}

bool CanReadMemory(pid_t process, const uint64_t* address, uint64_t expected) {
  uint64_t found = 0;
  return ReadMemory(process, reinterpret_cast<uint64_t>(address), &found,
                    sizeof(found)) &&
         found == expected;
}

}  // namespace bulkhead::sandbox
