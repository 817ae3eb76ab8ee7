// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/grants/grant_reader.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/crash_recorder.h"
#include "core/supervisor/backend/event_log.h"
#include "core/supervisor/backend/host_counters.h"
#include "core/supervisor/backend/killed_workers.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/sandbox/probe.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/operator_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// bulkheadd: serves one application. Discovers backends, starts those that are
// asked for, watches them, and ends with the application.
//
// The application is trusted; it speaks first, with `configure`, over the
// socket that bulkheadd was born with, and opens further connections over it.
// Run() returns when that socket is closed or the application's pidfd says that
// it is dead: then main returns, the reapers see their sockets close and end
// everything else. Operators of the same user may look, follow and command,
// over a socket of their own (operator_socket.h); a request of another kind, or
// too many of them, costs an operator the connection.
//
// One thread, one event loop. No call here blocks, except for the few
// milliseconds in which a backend's namespaces are made.
class Supervisor : private kj::TaskSet::ErrorHandler {
 public:
  // `application_pid`: for operators.
  Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
             pid_t application_pid);

  // Resolves when the application is gone.
  kj::Promise<void> Run();

 private:
  using Request = ipc::schema::HostRequest;
  using Reply = ipc::schema::HostReply;

  // What one peer may ask for within a second.
  struct RequestBudget {
    kj::TimePoint since;
    uint32_t requests = 0;
  };

  // One connection; answers one request after the other.
  kj::Promise<void> Serve(std::shared_ptr<EventSocket> connection);
  kj::Promise<void> Answer(EventSocket& connection,
                           ipc::ReceivedMessage message);
  // The same for a peer that is no application: some requests, not too many.
  kj::Promise<void> ServeOperator(std::shared_ptr<EventSocket> connection,
                                  RequestBudget budget);
  kj::Promise<void> OpenSession(EventSocket& connection,
                                ipc::schema::OpenSession::Reader request,
                                ipc::UniqueFd socket);
  kj::Promise<void> AnswerExit(EventSocket& connection,
                               ipc::schema::SessionEnd::Reader seen);
  Status Configure(ipc::schema::Configuration::Reader configuration,
                   ipc::UniqueFd application_pidfd);
  Status EnsureTier();
  // The backend of `device`, if backends may be started here at all.
  Result<Catalog::BackendPointer> FindBackend(const std::string& device);
  kj::Promise<void> Prepare(EventSocket& connection, const std::string& device);
  kj::Promise<void> Load(EventSocket& connection, const std::string& path,
                         const std::string& entry_point);
  kj::Promise<void> Command(EventSocket& connection,
                            ipc::schema::BackendCommand::Reader command);
  kj::Promise<void> AnswerEvents(EventSocket& connection,
                                 ipc::schema::EventsRequest::Reader request);
  void DescribeHost(ipc::schema::HostDescription::Builder out);
  Status ShareCounters(const ipc::UniqueFd& memory);
  void DescribeSandbox(ipc::schema::SandboxReport::Builder out);
  void taskFailed(kj::Exception&& exception) override;

  kj::UnixEventPort& port_;
  const std::shared_ptr<EventSocket> root_;
  kj::Own<kj::PromiseFulfiller<void>> gone_;
  ipc::UniqueFd application_pidfd_;
  kj::Own<kj::UnixEventPort::FdObserver> application_observer_;
  grants::GrantReader grants_;
  std::optional<QuarantineRecords> quarantine_;
  EventLog events_;
  std::optional<CrashRecorder> crashes_;
  HostCounters counters_;
  KilledWorkers killed_;
  std::optional<StartContext> context_;
  sandbox::Tier floor_ = sandbox::Tier::kFull;
  std::string cgroup_;                             // as it was named, if it was
  std::optional<sandbox::SandboxReport> sandbox_;  // once probed
  std::optional<Catalog> catalog_;                 // once configured
  uint64_t next_session_ = 1;
  const pid_t application_pid_;
  const kj::TimePoint born_;
  std::optional<OperatorSocket> operators_;  // none: nobody can reach it
  // Last member: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
