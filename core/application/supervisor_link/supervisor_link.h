// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/fork_mark.h"
#include "core/application/supervisor_link/interruptible_turn.h"
#include "core/application/supervisor_link/session_counting.h"
#include "core/application/supervisor_link/session_requests.h"
#include "core/application/supervisor_link/supervisor_calls.h"
#include "core/application/supervisor_link/supervisor_connections.h"
#include "core/application/supervisor_link/supervisor_settings.h"
#include "core/include/bulkhead/host.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// The link between an application and its bulkheadd. A Host has one link and
// shares it with its sessions; the last owner ends bulkheadd.
//
// The link owns three parts. SupervisorConnections starts bulkheadd, replaces
// it after its death and keeps the connections. SupervisorCalls makes one call
// (a request and its reply) over a connection. SessionRequests has the requests
// about a session; the link's own functions are all other requests.
//
// Thread-safe: calls of several threads run at the same time. bulkheadd is
// trusted, but may die or be stopped at any point, so each call has a deadline.
// When bulkheadd dies, its workers die too, and the sessions replay on new
// workers. In a forked child every call returns an error, and destroying the
// child's copy of the link does not affect the parent.
class SupervisorLink {
 public:
  // Starts bulkheadd.
  static Result<std::shared_ptr<SupervisorLink>> Start(
      SupervisorSettings settings);
  SupervisorLink(const SupervisorLink&) = delete;
  SupervisorLink& operator=(const SupervisorLink&) = delete;

  // Returns the requests about one session and its worker.
  SessionRequests& sessions() { return sessions_; }

  // Reports to bulkheadd how a session ended after crashes. bulkheadd adds
  // `outcome` ("recovered", or the name of a Code) to the crash records with
  // the numbers `crashes`.
  void TellOutcome(const std::vector<uint64_t>& crashes,
                   const std::string& outcome);
  // Reports to bulkheadd that a stream left `device` for another device
  // (VideoOptions::on_failure), and that the other device failed too. `text`
  // says why, for people.
  void TellFailedFailover(const std::string& device, const std::string& text);
  // Returns the backend that has the device. Starts nothing.
  Result<std::string> FindDevice(const std::string& device);
  // Returns an error if no backend, or more than one, has the device of
  // shadow(). Starts nothing. Once the device was found, returns OK without
  // asking bulkheadd again.
  Status CheckShadowDevice();

  // The next five functions return kCancelled if `cancel`, which may be null,
  // is raised before the reply comes. bulkheadd still completes the request.

  // Starts the backend of `device`, unless the backend is ready.
  Status Prepare(const std::string& device, CancelSignal* cancel = nullptr);
  // Registers and starts the backends of `load`, and returns their devices. A
  // bulkheadd that replaces this one later registers them again.
  Result<std::vector<DeviceInfo>> Load(const ExplicitLoad& load,
                                       CancelSignal* cancel = nullptr);
  // Has bulkheadd perform `action`, such as enable or disable, on a backend.
  Status Command(const std::string& backend,
                 ipc::schema::BackendCommand::Action action,
                 CancelSignal* cancel = nullptr);
  // Returns the list of backends, with all diagnostics (warnings about plugin
  // path and grant files too).
  Result<BackendReport> Backends(CancelSignal* cancel = nullptr);
  // Returns the tier of the sandbox on this machine, and what it lacks.
  Result<SandboxReport> Sandbox(CancelSignal* cancel = nullptr);

  // Assigns a counter to a new session.
  SessionCounting::Lease CountSession() { return counting_->Take(); }
  // Returns the mark by which a process finds out that it is a forked child of
  // the process that made the link. There every call returns ForkedError().
  const ForkMark& process() const { return connections_.process(); }
  // Returns the pid of bulkheadd; 0 in a forked child.
  pid_t pid() const { return connections_.pid(); }
  const Deadlines& deadlines() const { return settings_.deadlines; }
  const std::optional<ShadowOptions>& shadow() const {
    return settings_.shadow;
  }
  // Returns the directory of the crash records; empty if none are kept.
  const std::string& state_directory() const {
    return settings_.state_directory;
  }

 private:
  SupervisorLink(SupervisorSettings settings,
                 std::shared_ptr<SessionCounting> counting,
                 InterruptibleTurn turn);

  const SupervisorSettings settings_;
  const std::shared_ptr<SessionCounting> counting_;
  SupervisorConnections connections_;
  SupervisorCalls calls_;
  SessionRequests sessions_;
  std::atomic<bool> shadow_device_known_ = false;
};

}  // namespace bulkhead::supervisor_link
