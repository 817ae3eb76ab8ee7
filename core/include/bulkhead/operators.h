// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/event.h"
#include "bulkhead/host_options.h"
#include "bulkhead/status.h"

namespace bulkhead {

// What an operator sees of every application of this user that uses Bulkhead,
// and what he may have done; `bulkhead ps`, `events`, `restart` and its like.
//
// Each bulkheadd listens on an abstract socket, found in /proc/net/unix, so one
// in another network namespace is not. It admits its own user and root, and is
// believed only if it runs as this user or as root. Everything has a deadline:
// a bulkheadd that is stopped is named among the silent. Functions are
// thread-safe; nothing is started and no thread made.

struct RunningSession {
  uint64_t session = 0;
  std::string device;
  std::string input;  // its path, as the application named it
  int worker_pid = 0;
  uint64_t frames = 0;  // delivered to the application
  // Within the window; nullopt: it was opened in it, or there was none.
  std::optional<double> frames_per_second;
  uint32_t restarts = 0;  // workers that it went on after
};

struct RunningBackend {
  std::string name;
  std::string state;  // as BackendInfo has it
  std::string reason;
  uint32_t incarnation = 0;  // how often it was started
  uint32_t restarts = 0;     // workers that ended while they had a session
  std::vector<int> worker_pids;
  // Resident, of all its processes; what they share is counted for each.
  uint64_t memory_bytes = 0;
  std::vector<RunningSession> sessions;
};

// A worker that was killed and has not ended for two seconds, since the kernel
// holds it (state D). Nothing of Bulkhead waits for it.
struct WrittenOffWorker {
  std::string backend;
  int pid = 0;
  std::chrono::milliseconds since{0};
};

// One bulkheadd. A process with several Hosts has several.
struct RunningHost {
  int pid = 0;          // of the application
  std::string command;  // of the application; empty: not to be seen from here
  int supervisor_pid = 0;
  std::chrono::milliseconds uptime{0};    // of bulkheadd
  SandboxTier tier = SandboxTier::kNone;  // kNone: no backend was needed yet
  uint64_t memory_bytes = 0;              // of bulkheadd alone
  std::vector<RunningBackend> backends;
  std::vector<WrittenOffWorker> written_off;
};

struct RunningHosts {
  std::vector<RunningHost> hosts;
  // What could not be asked, and why; a sentence for each.
  std::vector<std::string> silent;
};

// Frames are counted twice, `window` apart; the call takes that long. Zero:
// once, and no session has a rate.
Result<RunningHosts> FindRunningHosts(
    std::chrono::milliseconds window = std::chrono::milliseconds(500));

enum class BackendCommand { kRestart, kReload, kDisable, kEnable };

// The same as of Host, for the application of that pid. kNotFound: it has no
// bulkheadd, or that no such backend; the message has those that there are.
Status CommandBackend(int host_pid, const std::string& backend,
                      BackendCommand command);

// The events of running applications as they happen, new ones among them.
//
//     auto follower = EventFollower::Create({}).value();
//     while (auto events = follower.Next(std::chrono::seconds(1)))
//     Show(*events);
//
// bulkheadd keeps the latest thousand and never waits for a follower: one that
// is too slow finds in Event::lost how many it has missed. Not thread-safe.
class EventFollower {
 public:
  // Of one application, or of all. kNotFound: there is none.
  static Result<EventFollower> Create(std::optional<int> host_pid);
  EventFollower(EventFollower&&) noexcept;
  EventFollower& operator=(EventFollower&&) noexcept;
  ~EventFollower();

  // At first those that are kept. Empty: there was none within the time, or a
  // signal came. kBackendLost: the last bulkheadd has ended.
  Result<std::vector<Event>> Next(std::chrono::milliseconds timeout);

 private:
  struct Followed;

  explicit EventFollower(std::optional<int> host_pid);
  Status FindMore();

  std::optional<int> host_pid_;
  std::vector<Followed> followed_;
};

// Those that are kept, in the order of time. kNotFound: there is no bulkheadd.
Result<std::vector<Event>> RecentEvents(std::optional<int> host_pid);

}  // namespace bulkhead
