// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/discovery/plugin_path.h"
#include "core/discovery/selection.h"
#include "core/include/bulkhead/host.h"
#include "core/session/supervisor_process.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::session {

// What bulkheadd is told at its start, and again after its death.
struct SupervisorSettings {
  std::string libexec_dir;
  std::vector<discovery::SearchDirectory> plugin_path;
  discovery::Selection selection;
  SandboxTier floor = SandboxTier::kFull;
  Deadlines deadlines;
};

struct StartedWorker {
  uint64_t session = 0;
  std::string backend;
  std::string device;
  uint32_t device_ordinal = 0;
  ipc::UniqueFd pidfd;  // readable once the worker is dead
  uint64_t generation = 0;
};

// How a worker ended, and whether anybody is to blame.
struct WorkerExit {
  ExitReport report;
  bool zygote_alive = false;
};

// The application's connection to bulkheadd, which it starts, and starts again
// when it died: sessions then find their workers dead and replay.
//
// Thread-safe. One call occupies one connection until its answer; a thread that
// finds them all taken opens another, so that a slow start of one backend holds
// up nobody else. bulkheadd is trusted, but may die or be stopped at any point:
// each call has a deadline.
class SupervisorLink {
 public:
  static Result<std::shared_ptr<SupervisorLink>> Start(
      SupervisorSettings settings);

  // Has a worker started for `device`; it will serve `worker_socket`.
  // kBackendLost: bulkheadd died meanwhile; call again with a new socket.
  Result<StartedWorker> OpenSession(const std::string& device,
                                    int worker_socket);
  // Blocks until it is known how the worker ended; kind kUnknown when
  // bulkheadd does not know.
  WorkerExit SessionExit(const StartedWorker& worker);
  void CloseSession(const StartedWorker& worker);
  Result<BackendReport> Backends();
  Result<SandboxReport> Sandbox();

  pid_t pid() const;
  const Deadlines& deadlines() const { return settings_.deadlines; }

 private:
  using Request = ipc::schema::HostRequest;
  using Reply = ipc::schema::HostReply;
  using Fill = std::function<void(Request::Builder)>;
  using Take = std::function<Status(Reply::Reader, ipc::ReceivedMessage&)>;

  struct Connection {
    ipc::UniqueFd socket;
    uint64_t generation = 0;
  };

  explicit SupervisorLink(SupervisorSettings settings);
  Status StartLocked();
  Result<Connection> Acquire();
  void Return(Connection connection);
  void Lost(uint64_t generation);
  Status Exchange(int socket, const Fill& fill, std::span<const int> fds,
                  ipc::Deadline deadline, const Take& take,
                  bool* answered = nullptr);
  Status Call(const Fill& fill, std::span<const int> fds,
              std::chrono::milliseconds timeout, const Take& take,
              uint64_t* generation = nullptr);

  // Constant after construction.
  const SupervisorSettings settings_;
  const pid_t owner_;

  mutable std::mutex mutex_;
  // Protected by mutex_.
  SupervisorProcess process_;
  uint64_t generation_ = 0;
  bool alive_ = false;
  std::vector<Connection> idle_;
};

}  // namespace bulkhead::session
