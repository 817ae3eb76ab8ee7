// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <vector>

#include "core/supervisor/backend/start_services.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/device_requests.h"
#include "core/supervisor/health/health_check.h"
#include "core/supervisor/offered_sandbox.h"
#include "core/supervisor/operators.h"
#include "core/supervisor/session_opening.h"
#include "core/supervisor/session_workers.h"
#include "core/supervisor/shadow/shadowed_streams.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Dispatches the application's requests to the parts that carry them out: the
// catalog of backends, the opening of sessions, their workers, shadows (second
// decodings for comparison) and operators. Owns these parts. Exists once the
// application has sent its configuration.
//
// The application is trusted. Bound to the event loop's thread.
class ApplicationRequests {
 public:
  using Request = ipc::schema::HostRequest;

  // `application_pidfd` is borrowed and must stay open as long as this object
  // lives. `tasks` must be destroyed before this object.
  ApplicationRequests(kj::UnixEventPort& port,
                      Operators::Application application,
                      ipc::schema::Configuration::Reader configuration,
                      int application_pidfd,
                      backend::StartServices::Programs programs,
                      kj::TaskSet& tasks);
  KJ_DISALLOW_COPY(ApplicationRequests);

  // See DeviceRequests::LoadAgain.
  kj::Promise<void> LoadAgain(
      ipc::schema::Configuration::Reader configuration) {
    return devices_.LoadAgain(configuration);
  }
  // See SessionWorkers::HearFrom.
  void HearFrom(const sockets::EventSocket& connection, bool closed) {
    workers_.HearFrom(connection, closed);
  }
  // Carries out one request. Resolves once the answer was sent over
  // `connection`, which must live until then.
  kj::Promise<void> Answer(sockets::EventSocket& connection,
                           ipc::ReceivedMessage message);

 private:
  // Asks each directory that bulkheadd has to search for `request` whether it
  // answers, since it may lie on a silent file server (files/remote_places.h).
  // Resolves once each has answered or its time is over.
  kj::Promise<void> AskPlacesFor(Request::Reader request);
  // Does the same as Answer(), without asking the directories first.
  kj::Promise<void> AnswerAtOnce(sockets::EventSocket& connection,
                                 ipc::ReceivedMessage message);
  void ListBackends(ipc::schema::Backends::Builder out);
  // These three record what the application reports: a frame that a worker
  // delivered after earlier workers had died at it, how sessions went on after
  // crashes, and a failover.
  void NoteFrame(ipc::schema::DeliveredFrame::Reader delivered);
  void NoteOutcome(ipc::schema::CrashOutcome::Reader outcome);
  void NoteFailover(ipc::schema::FailedOver::Reader failed);
  // Begins to decode a session's stream on a second device and to compare the
  // frames. Does nothing if the session was closed meanwhile.
  void StartShadow(ipc::schema::Shadow::Reader request,
                   std::vector<ipc::UniqueFd> descriptors);

  health::HealthCheck health_;
  backend::StartServices services_;
  OfferedSandbox sandbox_;
  catalog::Catalog catalog_;
  shadow::ShadowedStreams shadows_;
  DeviceRequests devices_;
  SessionWorkers workers_;
  SessionOpening opening_;
  Operators operators_;
};

}  // namespace bulkhead::supervisor
