// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/fork_mark.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/session_counting.h"
#include "core/application/supervisor_link/supervisor_process.h"
#include "core/control/control_exchange.h"
#include "core/control/event_stream.h"
#include "core/control/input_position.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/selection.h"
#include "core/grants/grant_files.h"
#include "core/include/bulkhead/host.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::session {

// What bulkheadd is told at its start, and again after its death.
struct SupervisorSettings {
  std::string libexec_dir;
  discovery::PluginPath plugin_path;
  discovery::Selection selection;
  grants::GrantFiles grant_files;
  bool eager = false;
  SandboxTier floor = SandboxTier::kFull;
  std::string cgroup;  // as HostOptions has it; empty: one is looked for
  Deadlines deadlines;
  std::string state_directory;  // empty: none
  Limits limits;
  EventObserver on_event;  // may be empty
};

// Backends that are loaded by hand.
struct ExplicitLoad {
  std::string path;
  std::string entry_point;  // empty: all that are there

  bool operator==(const ExplicitLoad&) const = default;
};

struct StartedWorker {
  uint64_t session = 0;
  std::string backend;
  std::string device;
  uint32_t device_ordinal = 0;
  ipc::UniqueFd pidfd;  // readable once the worker is dead
  bool shared = false;  // it may serve others too
  // Where the input is refused, since it kills the backend's workers there.
  std::vector<PoisonedPosition> poisoned;
  uint64_t generation = 0;
};

// What a session asks a worker for.
struct SessionRequest {
  std::string device;
  bool audio;             // that is what it decodes, else video
  bool alone;             // in a worker that serves nobody else
  std::string input;      // what is decoded, and how; see InputKey
  std::string path;       // the same for people
  uint32_t counter;       // its place among the session counters
  uint64_t worker_bytes;  // Limits::worker_bytes
};

// The application's connection to bulkheadd, which it starts, and starts again
// when it died: sessions then find their workers dead and replay.
//
// Thread-safe. One call occupies one connection until its answer; a thread that
// finds them all taken opens another, so that a slow start of one backend holds
// up nobody else. bulkheadd is trusted, but may die or be stopped at any point:
// each call has a deadline. A forked process gets an error from all of them,
// and destroying its copy disturbs nobody.
class SupervisorLink {
 public:
  static Result<std::shared_ptr<SupervisorLink>> Start(
      SupervisorSettings settings);

  // Has a worker found or started; it will serve `worker_socket`.
  // kBackendLost: bulkheadd died meanwhile; call again with a new socket.
  // kPoisonedInput, kDeadlineExceeded: the input has killed too many workers
  // while it was opened.
  Result<StartedWorker> OpenSession(const SessionRequest& request,
                                    int worker_socket);
  // The worker said hello: whether all of it is locked down. kBackendLost: it
  // died, or bulkheadd did.
  Status ConfirmSession(const StartedWorker& worker);
  // Blocks until it is known how the worker ended; kind kUnknown when
  // bulkheadd does not know. Once a worker: it is counted.
  ExitVerdict SessionExit(const StartedWorker& worker,
                          const ObservedExit& seen);
  // After deaths: the input is not to blame for those at `position`.
  void FrameDelivered(const StartedWorker& worker,
                      const InputPosition& position);
  // What came of ends that have records: "recovered", or the name of a Code.
  void TellOutcome(const std::vector<uint64_t>& crashes,
                   const std::string& outcome);
  void CloseSession(const StartedWorker& worker);
  Status Prepare(const std::string& device);
  // Remembered: another bulkheadd is told at its start.
  Result<std::vector<DeviceInfo>> Load(const ExplicitLoad& load);
  // Of an operator.
  Status Command(const std::string& backend,
                 ipc::schema::BackendCommand::Action action);
  Result<BackendReport> Backends();
  Result<SandboxReport> Sandbox();

  SessionCounting::Lease CountSession() { return counting_->Take(); }

  // Not OK in a fork() of the process that it belongs to.
  Status CheckProcess() const;
  pid_t pid() const;
  const Deadlines& deadlines() const { return settings_.deadlines; }

 private:
  using Request = ipc::schema::HostRequest;
  using Reply = ipc::schema::HostReply;

  struct Connection {
    ipc::UniqueFd socket;
    uint64_t generation = 0;
  };

  SupervisorLink(SupervisorSettings settings,
                 std::shared_ptr<SessionCounting> counting);
  // For the files of a backend to settle, for it, its probe and a worker or
  // its check to start.
  std::chrono::milliseconds StartPatience() const;
  Status StartLocked();
  Result<Connection> Acquire();
  void Return(Connection connection);
  void Lost(uint64_t generation);
  bool StillServes(const StartedWorker& worker) const;
  Status Call(const FillRequest& fill, std::span<const int> fds,
              std::chrono::milliseconds timeout, const TakeReply& take,
              uint64_t* generation = nullptr);
  // To a socket on which bulkheadd serves.
  Result<ipc::UniqueFd> ConnectLocked();
  Status FollowLocked();
  // To the observer, unless another thread does.
  void DeliverEvents();

  // Constant after construction.
  const SupervisorSettings settings_;
  const ForkMark fork_mark_;
  const std::shared_ptr<SessionCounting> counting_;
  std::atomic<bool> delivering_ = false;

  mutable std::mutex mutex_;
  // Protected by mutex_.
  SupervisorProcess process_;
  uint64_t generation_ = 0;
  bool alive_ = false;
  std::vector<Connection> idle_;
  std::vector<ExplicitLoad> loads_;
  // Of each bulkheadd in turn; the front one is used by whoever delivers.
  std::deque<EventStream> streams_;
};

}  // namespace bulkhead::session
