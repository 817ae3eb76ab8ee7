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

// A system call on which the kernel waits for bulkheadd's decision.
struct PendingCall {
  pid_t process = 0;  // The pid in the backend's own pid namespace.
  pid_t thread = 0;   // The calling thread, as this process sees it.
  int threads = 0;    // The number of threads of the calling process.
  uint64_t id = 0;    // of the notification
  int number = 0;
  uint32_t architecture = 0;  // An AUDIT_ARCH_* value.
  uint64_t arguments[6] = {};
};

// Decides on the calls that Bulkhead's own code makes in a backend and that
// vendor code must not make: cloning a worker, and installing a lock-down.
// Stage 1 leaves them to bulkheadd (Rule::asks).
//
//   calls.ExpectClone();            // the zygote was asked for a worker
//   calls.Decide(call)              // in the listener
//   calls.CloneAnswered();          // the zygote said what came of it
//   calls.Give(pid, descriptors);   // the worker is known
//   calls.TakeReady(pid)            // the worker waits in its last call
//
// The kernel reports forbidden calls in the same way as those that bulkheadd
// decides on, so each call is compared with the rules of stage 1 again, with
// all its arguments.
//
// A clone is approved for the zygote alone, once for each that bulkheadd asked
// for. So a backend has no process that bulkheadd does not know of. Each
// process may install exactly the filters of its own lock-down, in their order:
// the zygote the last one of stage 1, before it loads vendor code, and a worker
// the filters of stage 2. So no filter of the vendor's answers a call, logs it,
// or counts as one of ours. A filter is compared where it lies in the memory of
// the caller, which cannot change it: it has no other thread, and no process
// shares memory with it that can be written. (A granted device may; such a
// backend can then have filters that log, which is noise and no way out.)
// Before its last filter a worker has restricted itself with the Landlock
// ruleset of the lock-down. In the place of the last filter bulkheadd puts one
// that also keeps the worker from the pages of files (file_mappings.h).
//
// A worker gets its socket, and with it media and the memory of its session,
// when its last filter is allowed. The zygote never has the socket: its threads
// could read the messages on it, and map that memory. By then a worker has no
// descriptor but the standard ones and granted devices: an open file that it
// kept would be shared with its siblings, as a place to leave data in. For the
// same reason it gets a stdin, stdout and stderr of its own at that moment;
// everybody can watch writes to the host's /dev/null (inotify).
//
// Used by bulkheadd's one thread. Every call is a hostile claim except for its
// process and thread, which the kernel names.
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
  // With `reads_memory` false, this machine does not let bulkheadd read the
  // memory of a backend; then the number and order of the calls is bounded and
  // not their content. `parts` must outlive this object.
  ExpectedCalls(SessionLockdown lockdown, bool reads_memory, HeldParts& parts);

  enum class Decision {
    kRefuse,  // ends the process
    // bulkheadd lacks the descriptors to look, so the call fails with EAGAIN.
    kCannotTell,
    kGoOn,  // is executed
    // Is executed once the worker's descriptors are there: TakeReady() says
    // when.
    kAwaitDescriptors,
  };
  // The descriptors that a worker gets with its last filter, and not before.
  struct WorkerDescriptors {
    ipc::UniqueFd socket;
    ipc::UniqueFd log;      // its stderr
    ipc::UniqueFd silence;  // its stdin and stdout
  };
  // The descriptors for a worker that waits in its last call, and the call's
  // id.
  struct Ready {
    uint64_t id;
    WorkerDescriptors descriptors;
  };

  // The files that the backend maps: of the zygote, once they were added, and
  // of each worker that got its last filter.
  HeldFiles& held_files() { return held_files_; }
  bool reads_memory() const { return reads_memory_; }
  void ExpectClone() { ++expected_clones_; }
  void CloneAnswered();
  Decision Decide(const PendingCall& call);
  // Stores the descriptors of a worker.
  void Give(pid_t process, WorkerDescriptors descriptors);
  // Returns, once, the call and the descriptors of a worker that has both.
  std::optional<Ready> TakeReady(pid_t process);
  // Forgets a process that has ended.
  void Forget(pid_t process) { workers_.erase(process); }
  // The number of clones that were approved and not answered yet.
  uint32_t clones_under_way() const { return clones_under_way_; }

 private:
  // The steps of its lock-down that a process has made.
  struct Progress {
    bool made_ruleset = false;
    bool entered_ruleset = false;
    size_t filters = 0;
    std::optional<uint64_t> waiting;  // the id of the last filter's call
    std::optional<WorkerDescriptors> descriptors;
  };

  // Returns whether the worker makes the ruleset of the lock-down.
  bool IsRuleset(const PendingCall& call) const;
  // Returns whether the worker restricts itself with a ruleset.
  bool EntersRuleset(const PendingCall& call) const;
  Decision DecideFilter(const PendingCall& call);
  // Returns the filter that a process installs as its `index`-th, empty if
  // there is none.
  std::vector<sock_filter> Expected(pid_t process, size_t index) const;
  // Has all that a worker maps of files held in memory.
  Decision HoldFiles(pid_t process, const std::vector<FileMapping>& mappings);
  // Decides on the descriptors of a worker: kRefuse if it has one that a worker
  // must not have.
  Decision DecideDescriptors(pid_t process) const;

  const SessionLockdown lockdown_;
  const bool reads_memory_;
  HeldFiles held_files_;
  // Bounds what workers may still map of files that the zygote had not mapped.
  // bulkheadd does nothing else while it reads these.
  uint64_t late_bytes_left_ = uint64_t{256} << 20;
  // Nobody but the zygote has the filter that asks before a clone is approved.
  pid_t zygote_ = 0;
  uint32_t expected_clones_ = 0;
  uint32_t clones_under_way_ = 0;
  std::map<pid_t, Progress> workers_;  // and the zygote
};

// Returns whether this process can read the memory of `process` at `address`,
// where it has the 8 bytes `expected`.
bool CanReadMemory(pid_t process, const uint64_t* address, uint64_t expected);

}  // namespace bulkhead::sandbox
