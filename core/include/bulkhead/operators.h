// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/backend_counts.h"
#include "bulkhead/event.h"
#include "bulkhead/host_options.h"
#include "bulkhead/shadow.h"
#include "bulkhead/status.h"

namespace bulkhead {

// Functions for operators: they look at, and control, every application of this
// user that uses Bulkhead. `bulkhead ps`, `metrics`, `events` and `restart` are
// made of them.
//
//     for (const RunningHost& host : FindRunningHosts().value().hosts) {
//       Show(host);
//     }
//
// Each bulkheadd listens on an abstract socket, which is found in
// /proc/net/unix; a bulkheadd in another network namespace is therefore not
// found. bulkheadd admits its own user and root, and its answers are believed
// only if it runs as this user or as root. All bulkheadds are asked at once and
// share one deadline of two seconds. The functions are thread-safe and start no
// process or thread.

// One open session of an application.
struct RunningSession {
  uint64_t session = 0;
  std::string device;
  std::string input;    // The path as the application named it.
  int worker_pid = 0;   // 0 while it has no worker.
  uint64_t frames = 0;  // Delivered to the application.
  // The rate within the window of FindRunningHosts; nullopt if the session was
  // opened within the window or if there was no window.
  std::optional<double> frames_per_second;
  uint32_t restarts = 0;  // The number of workers that the session has lost.
  // The time since the application called the session, if the call still waits;
  // nullopt if no call waits. At most 1,024 open sessions of an application
  // have this time and a count of frames.
  std::optional<std::chrono::milliseconds> waiting;
};

// One backend of an application.
struct RunningBackend {
  std::string name;
  std::string state;  // The same words as in BackendInfo::state.
  std::string reason;
  uint32_t incarnation = 0;  // The number of starts of the backend.
  uint32_t restarts = 0;     // Workers that ended while they had a session.
  uint32_t failovers = 0;    // Streams that moved to another device (Failover).
  // Streams for which that other device failed as well, even if it had
  // delivered frames before.
  uint32_t failed_failovers = 0;
  std::vector<int> worker_pids;
  // Resident memory of all processes of the backend; a shared page counts once
  // per process.
  uint64_t memory_bytes = 0;
  std::vector<RunningSession> sessions;
  ShadowReport shadow = {};  // The same as BackendInfo::shadow.
};

// A worker that was killed two seconds ago or more and has not ended, because
// the kernel holds it (state D). Nothing in Bulkhead waits for it.
struct WrittenOffWorker {
  std::string backend;
  int pid = 0;
  std::chrono::milliseconds since{0};  // The time since it was killed.
};

// One bulkheadd and the application it serves. A process with several Hosts has
// several bulkheadd.
struct RunningHost {
  int pid = 0;          // The pid of the application.
  std::string command;  // Its command line; empty if not visible from here.
  int supervisor_pid = 0;
  std::chrono::milliseconds uptime{0};    // The uptime of bulkheadd.
  SandboxTier tier = SandboxTier::kNone;  // kNone until a backend was needed.
  uint64_t memory_bytes = 0;              // The memory of bulkheadd alone.
  std::vector<RunningBackend> backends;
  std::vector<WrittenOffWorker> written_off;
  // Sorted by name; includes backends that were replaced or removed.
  std::vector<BackendCounts> counts;
};

// A bulkheadd that did not answer.
struct SilentHost {
  int pid = 0;          // The application's, as the socket's name claims.
  std::string command;  // Its command line; empty if not visible from here.
  std::string reason;   // A sentence that names the process.
};

// The answer of FindRunningHosts.
struct RunningHosts {
  std::vector<RunningHost> hosts;
  // At most 16 of these take no connection or belong to another user; further
  // hosts of this kind are left out.
  std::vector<SilentHost> silent;
};

// Asks every bulkheadd. To measure rates, asks twice, `window` apart, so the
// call takes that long. With a window of zero, asks once, and no session has a
// rate.
Result<RunningHosts> FindRunningHosts(
    std::chrono::milliseconds window = std::chrono::milliseconds(500));

enum class BackendCommand { kRestart, kReload, kDisable, kEnable };

// Does the same as the method of Host with the command's name, in the
// application with pid `host_pid`. Returns the same errors; kNotFound also if
// the application has no bulkheadd.
Status CommandBackend(int host_pid, const std::string& backend,
                      BackendCommand command);

// Sends the command to several applications at once. Returns a status for each,
// in the order of `host_pids`.
std::vector<Status> CommandBackends(const std::vector<int>& host_pids,
                                    const std::string& backend,
                                    BackendCommand command);

// Follows the events of running applications as they happen, including
// applications that start later.
//
//     auto follower = EventFollower::Create({}).value();
//     while (auto events = follower.Next(std::chrono::seconds(1)))
//       Show(*events);
//
// bulkheadd keeps the latest thousand events and never waits for a follower; a
// follower that is too slow learns from Event::lost how many events it has
// missed. Not thread-safe.
class EventFollower {
 public:
  // Follows one application, or all of them with nullopt. kNotFound if there is
  // no bulkheadd.
  static Result<EventFollower> Create(std::optional<int> host_pid);
  EventFollower(EventFollower&&) noexcept;
  EventFollower& operator=(EventFollower&&) noexcept;
  ~EventFollower();

  // Returns the next events: first those that bulkheadd has kept, then new
  // ones. Returns an empty list if `timeout` passes or a signal arrives.
  // kBackendLost if the last bulkheadd has ended.
  Result<std::vector<Event>> Next(std::chrono::milliseconds timeout);

 private:
  struct Followed;

  explicit EventFollower(std::optional<int> host_pid);
  Status FindMore();

  std::optional<int> host_pid_;
  std::vector<Followed> followed_;
};

// Returns the events that bulkheadd keeps, ordered by time, of one application
// or of all (nullopt). kNotFound if there is no bulkheadd.
Result<std::vector<Event>> RecentEvents(std::optional<int> host_pid);

}  // namespace bulkhead
