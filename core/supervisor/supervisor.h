// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/grants/grant_reader.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/crash_recorder.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/host_ends.h"
#include "core/supervisor/backend/killed_workers.h"
#include "core/supervisor/backend/session_socket.h"
#include "core/supervisor/blame/disabled_backends.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/files/remote_places.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "core/supervisor/sandbox/probe.h"
#include "core/supervisor/sandbox/requirements.h"
#include "core/supervisor/shadow/shadows.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/operator_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// The whole of bulkheadd: serves one application. Discovers backends, starts
// those that are asked for, watches them, and ends with the application.
//
// The application is trusted. It speaks first, with `configure`, over the
// socket that bulkheadd inherited, and opens further connections over that
// socket. Run() resolves once that socket is closed or the application's pidfd
// says that the application is dead. Then main returns, and the reapers, whose
// sockets close with bulkheadd, end everything else.
//
// Operators of the same user may look, follow and command over a socket of
// their own (operator_socket.h). An operator that makes another request, or too
// many requests, loses the connection.
//
// One thread, one event loop. Nothing here waits for a backend. The thread
// blocks for some milliseconds while the sandbox is probed, while a backend is
// launched, and while files are read; ending an incarnation can block it for up
// to two seconds.
class Supervisor : private kj::TaskSet::ErrorHandler {
 public:
  // `application` is the inherited socket. `application_pid` is shown to
  // operators. `port` must outlive this object.
  Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
             pid_t application_pid);

  // Resolves once the application is gone.
  kj::Promise<void> Run();

 private:
  using Request = ipc::schema::HostRequest;
  using Reply = ipc::schema::HostReply;

  // Counts the requests of one operator within a second.
  struct RequestBudget {
    kj::TimePoint since;
    uint32_t requests = 0;
  };

  // Serves one connection of the application, one request after the other.
  kj::Promise<void> Serve(std::shared_ptr<EventSocket> connection);
  kj::Promise<void> Answer(EventSocket& connection,
                           ipc::ReceivedMessage message);
  // Resolves once all directories answer, or will not, that the request has
  // this process read.
  kj::Promise<void> AskPlacesFor(Request::Reader request);
  kj::Promise<void> AnswerAtOnce(EventSocket& connection,
                                 ipc::ReceivedMessage message);
  // Serves one operator: only certain requests, and not too many.
  kj::Promise<void> ServeOperator(std::shared_ptr<EventSocket> connection,
                                  RequestBudget budget);
  kj::Promise<void> OpenSession(EventSocket& connection,
                                ipc::schema::OpenSession::Reader request,
                                std::vector<ipc::UniqueFd> memory);
  struct UnreadAnswer {
    uint64_t session;
    uint32_t end;  // the place among ends_
  };
  // The part of an openSession request that is needed once the worker is there.
  struct AskedSession {
    std::string input;
    uint32_t end;  // the place among ends_
    SessionSocket::Memory memory;
  };
  // Has the worker attach the session's memory, and answers.
  kj::Promise<void> Attach(EventSocket& connection, AskedSession asked,
                           const Catalog::BackendPointer& backend,
                           const Backend::StartedSession& started,
                           std::shared_ptr<SessionSocket> socket);
  void AnswerStarted(EventSocket& connection, const std::string& input,
                     uint32_t end, Backend& backend,
                     const Backend::StartedSession& started,
                     const Status& attached);
  kj::Promise<void> AttachPool(EventSocket& connection,
                               ipc::schema::AttachPool::Reader request,
                               ipc::UniqueFd pool);
  kj::Promise<void> AnswerEnd(EventSocket& connection,
                              ipc::schema::EndWorker::Reader request);
  void CloseSession(uint64_t session);
  kj::Promise<void> AnswerExit(EventSocket& connection,
                               ipc::schema::SessionEnd::Reader seen);
  void NoteFailover(ipc::schema::FailedOver::Reader failed);
  Status Configure(ipc::schema::Configuration::Reader configuration,
                   ipc::UniqueFd application_pidfd,
                   std::vector<ipc::UniqueFd> descriptors);
  // Loads what the application has loaded before. Resolves once it is known.
  kj::Promise<void> LoadAgain(ipc::schema::Configuration::Reader configuration);
  void StartAll();
  // Probes the sandbox once; fails if it offers less than is required.
  Status EnsureTier();
  // Returns the backend of `device`. Fails if the sandbox offers less than is
  // required.
  Result<Catalog::BackendPointer> FindBackend(const std::string& device);
  // Fails with kResourceExhausted if bulkheadd cannot open as many files as the
  // start of a backend, or its search, needs.
  Status CheckSpareFiles() const;
  // Begins to compare the frames of a session, if that is possible.
  void StartShadow(ipc::schema::Shadow::Reader request, ipc::UniqueFd media,
                   std::vector<ipc::UniqueFd> descriptors);
  kj::Promise<void> Prepare(EventSocket& connection, const std::string& device);
  kj::Promise<void> Load(EventSocket& connection, const std::string& path,
                         const std::string& entry_point);
  kj::Promise<void> StartLoaded(EventSocket& connection,
                                std::vector<Catalog::BackendPointer> backends);
  kj::Promise<void> Command(EventSocket& connection,
                            ipc::schema::BackendCommand::Reader command);
  kj::Promise<void> AnswerEvents(EventSocket& connection,
                                 ipc::schema::EventsRequest::Reader request);
  void DescribeHost(ipc::schema::HostDescription::Builder out);
  Status ShareCounters(const std::vector<ipc::UniqueFd>& memory);
  void DescribeSandbox(ipc::schema::SandboxReport::Builder out);
  void taskFailed(kj::Exception&& exception) override;

  kj::UnixEventPort& port_;
  const std::shared_ptr<EventSocket> root_;
  kj::Own<kj::PromiseFulfiller<void>> gone_;
  ipc::UniqueFd application_pidfd_;
  kj::Own<kj::UnixEventPort::FdObserver> application_observer_;
  RemotePlaces places_;
  grants::GrantReader grants_;
  std::optional<QuarantineRecords> quarantine_;
  std::optional<DisabledBackends> disabled_;
  EventLog events_;
  std::optional<CrashRecorder> crashes_;
  HostCounters counters_;
  KeptCounts counts_;
  std::map<std::string, bool> met_media_;
  sandbox::HeldParts held_parts_;
  const sandbox::TaskLimits task_limits_;
  HostEnds ends_;
  KilledWorkers killed_;
  EndingReapers ending_;
  std::optional<StartContext> context_;
  sandbox::Requirements requirements_;
  std::string cgroup_;  // the configured directory, or empty
  std::optional<sandbox::SandboxReport> sandbox_;  // empty before the probe
  std::optional<Catalog> catalog_;                 // empty before `configure`
  std::optional<Shadows> shadows_;                 // with catalog_
  uint64_t next_session_ = 1;
  // The sockets of all sessions that have a worker.
  std::map<uint64_t, std::shared_ptr<SessionSocket>> sockets_;
  // The session that was the last answer on a connection of the application.
  std::map<const EventSocket*, UnreadAnswer> unread_;
  const pid_t application_pid_;
  const kj::TimePoint born_;
  std::optional<OperatorSocket> operators_;  // empty if it cannot listen
  // Last member, and destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
