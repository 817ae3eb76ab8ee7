// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// What the kernel says of one thread, in /proc/TID/status. Nothing in it is the
// thread's own claim but its name, which is not read.
struct ThreadStatus {
  pid_t process = 0;        // as this process sees it
  pid_t inner_process = 0;  // as the innermost pid namespace it is in sees it
  bool dead = false;      // it runs no more, though not everything of it ended
  bool filtered = false;  // seccomp mode 2
  bool no_new_privs = false;
  // How many filters; none where the kernel does not count (before 5.9).
  std::optional<uint32_t> filters;
};

// nullopt: there is no such thread, or no /proc.
std::optional<ThreadStatus> ReadThreadStatus(const std::string& directory);

// Filters that processes which are started from here have in any case: those
// that, for instance, a container has put upon this one.
uint32_t InheritedFilters();

// What a lock-down installs (backends/worker/lockdown).
inline constexpr uint32_t kStage1Filters = 1;
inline constexpr uint32_t kStage2Filters = 3;  // with that of stage 1

// Whether every thread of a process is bound by `filters` filters of a
// lock-down and has no way to more privileges; found out from outside, whatever
// the process says of itself. kSandboxUnavailable with what is missing;
// kBackendLost where the process has ended. A thread that is born meanwhile has
// what the one that made it has.
//
// The kernel counts filters and does not tell whose they are: vendor code in a
// zygote, whose stage 1 permits more filters, could put others of its own in
// place of stage 2's. Sessions are not protected from their own vendor.
Status CheckEveryThread(int pidfd, uint32_t filters);

}  // namespace bulkhead::sandbox
