// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/supervisor/sandbox/file_mappings.h"
#include "core/supervisor/sandbox/held_files.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// A system call of a backend that waits for bulkheadd's decision.
struct PendingCall {
  pid_t process = 0;          // The pid in the backend's own pid namespace.
  pid_t thread = 0;           // The calling thread, as this process sees it.
  int threads = 0;            // The number of threads of the calling process.
  uint64_t id = 0;            // The kernel's id of the notification.
  int number = 0;             // The number of the system call.
  uint32_t architecture = 0;  // An AUDIT_ARCH_* value.
  uint64_t arguments[6] = {};
};

// Decides on the system calls that Bulkhead's own code must make in a backend
// and that vendor code must not: cloning a worker, and installing a lock-down.
// The filter of stage 1 cannot tell the two apart, so it leaves these calls to
// bulkheadd (Rule::asks).
//
//   calls.ExpectClone();            // the zygote was asked for a worker
//   calls.Decide(call)              // for each call, in the listener
//   calls.CloneAnswered();          // the zygote has answered
//   calls.Give(pid, descriptors);   // the worker is known
//   calls.TakeReady(pid)            // the worker installs its last filter
//
// Clones: only the zygote may clone, once for each worker that bulkheadd asked
// for. So bulkheadd knows every process of a backend.
//
// Filters: each process may install exactly the filters of its own lock-down,
// in their order: the zygote the last filter of stage 1, before it loads vendor
// code; a worker the filters of stage 2. So a vendor cannot add a filter that
// answers or logs calls, or that CheckEveryThread() counts as a filter of the
// lock-down. bulkheadd reads the filter in the memory of the calling process.
// The process cannot change the filter meanwhile, since it has no other thread
// and shares no writable memory. (A granted device may write to that memory.
// Then a vendor can add filters that log, but not loosen the lock-down.)
//
// A worker may install its last filter if:
// - it has restricted itself with the Landlock ruleset of the lock-down;
// - it has only the standard descriptors and granted devices: in any other open
//   file, workers could leave data for each other.
// bulkheadd then replaces this filter by one that also forbids futexes in pages
// of files (file_mappings.h), and gives the worker:
// - the socket over which it receives media and the memory of its session. The
//   zygote never has this socket, because its threads could read the messages
//   and map the memory;
// - a stdin, stdout and stderr of its own, since everybody can watch writes to
//   the host's /dev/null (inotify).
//
// Used by bulkheadd's one thread. The calling process is hostile; only its
// process and thread id are certain, since they come from the kernel. The
// kernel reports forbidden calls and calls with Rule::asks alike. So each call
// is compared with the rules of stage 1 again, with all its arguments.
class ExpectedCalls {
 public:
  // The lock-down that each worker installs as stage 2.
  struct SessionLockdown {
    std::vector<sock_filter> filter;
    // The kinds of access to files, to the network and to other processes that
    // the Landlock ruleset handles; empty if the kernel has no Landlock.
    std::optional<std::array<uint64_t, 3>> handled;
    std::vector<uint64_t> devices;  // the device numbers of granted nodes
  };
  // `reads_memory` is false if this machine does not let bulkheadd read the
  // memory of a backend. Then only the number and the order of the calls are
  // checked, not their content. `parts` must outlive this object.
  ExpectedCalls(SessionLockdown lockdown, bool reads_memory, HeldParts& parts);

  enum class Decision {
    kRefuse,  // The call is a violation: its process is killed.
    // The call fails with EAGAIN, since bulkheadd lacks descriptors or memory
    // to check it.
    kCannotTell,
    kGoOn,  // The call is executed.
    // The call is executed once TakeReady() returns the worker's descriptors.
    kAwaitDescriptors,
  };
  // The descriptors that a worker gets when its last filter is allowed.
  struct WorkerDescriptors {
    ipc::UniqueFd socket;
    ipc::UniqueFd log;      // its stderr
    ipc::UniqueFd silence;  // its stdin and stdout
  };
  // The descriptors for a worker that waits in the call which installs its last
  // filter, and the kernel's id of that call.
  struct Ready {
    uint64_t id;
    WorkerDescriptors descriptors;
  };

  // The files that are held in memory for this backend. The owner of the
  // ExpectedCalls adds the files that the zygote maps. Decide() adds further
  // files that a worker maps.
  HeldFiles& held_files() { return held_files_; }
  bool reads_memory() const { return reads_memory_; }
  // Permits one clone. Call it when the zygote is asked for a worker.
  void ExpectClone() { ++expected_clones_; }
  // Withdraws the permission of ExpectClone(), used or not. Call it when the
  // zygote has answered the request.
  void CloneAnswered();
  // Decides on one waiting call of the backend, and records it as a step of the
  // calling process's lock-down.
  Decision Decide(const PendingCall& call);
  // Stores the descriptors of a worker.
  void Give(pid_t process, WorkerDescriptors descriptors);
  // If the worker waits in the call for its last filter and Give() was called,
  // returns the call's id and the descriptors, once.
  std::optional<Ready> TakeReady(pid_t process);
  // Forgets a process that has ended.
  void Forget(pid_t process) { workers_.erase(process); }
  // The number of allowed clones that the zygote has not reported yet.
  uint32_t clones_under_way() const { return clones_under_way_; }

 private:
  // The steps of its lock-down that one process has taken.
  struct Progress {
    bool made_ruleset = false;
    bool entered_ruleset = false;
    size_t filters = 0;
    std::optional<uint64_t> waiting;  // the id of the last filter's call
    std::optional<WorkerDescriptors> descriptors;
  };

  // Returns whether the call makes the Landlock ruleset of the lock-down.
  bool IsRuleset(const PendingCall& call) const;
  // Returns whether the call restricts the worker with a Landlock ruleset.
  bool EntersRuleset(const PendingCall& call) const;
  Decision DecideFilter(const PendingCall& call);
  // Returns filter number `index` of the process, counted from 0; empty if the
  // process may install no such filter.
  std::vector<sock_filter> Expected(pid_t process, size_t index) const;
  // Holds in memory the parts of files that a worker maps, unless they are held
  // already.
  Decision HoldFiles(pid_t process, const std::vector<FileMapping>& mappings);
  // Returns kRefuse if a worker has a descriptor that it must not have.
  Decision DecideDescriptors(pid_t process) const;

  const SessionLockdown lockdown_;
  const bool reads_memory_;
  HeldFiles held_files_;
  // The bytes of files that workers may still map in addition to the zygote's.
  // Bounded because bulkheadd does nothing else while it reads them.
  uint64_t late_bytes_left_ = uint64_t{256} << 20;
  // The process that made the first call. It is the zygote, since only an
  // allowed clone makes another process.
  pid_t zygote_ = 0;
  uint32_t expected_clones_ = 0;
  uint32_t clones_under_way_ = 0;
  std::map<pid_t, Progress> workers_;  // the zygote's progress too
};

// Returns whether this process can read the memory of `process`: whether it
// finds the value `expected` at `address` there.
bool CanReadMemory(pid_t process, const uint64_t* address, uint64_t expected);

}  // namespace bulkhead::sandbox
