// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <vector>

#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/device_requests.h"
#include "core/supervisor/offered_sandbox.h"
#include "core/supervisor/operators.h"
#include "core/supervisor/session_opening.h"
#include "core/supervisor/session_workers.h"
#include "core/supervisor/shadow/shadowed_streams.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/start_services.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Answers the requests of an application that has configured its bulkheadd.
// Owns the parts that do what is asked.
//
// Bound to the event loop's thread.
class ApplicationRequests {
 public:
  using Request = ipc::schema::HostRequest;

  // `application_pidfd` is borrowed; `tasks` must be destroyed before this
  // object.
  ApplicationRequests(kj::UnixEventPort& port,
                      Operators::Application application,
                      ipc::schema::Configuration::Reader configuration,
                      int application_pidfd, StartServices::Programs programs,
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
  kj::Promise<void> Answer(sockets::EventSocket& connection,
                           ipc::ReceivedMessage message);

 private:
  // Resolves once each directory that this process will read for the request
  // has answered, or will not.
  kj::Promise<void> AskPlacesFor(Request::Reader request);
  kj::Promise<void> AnswerAtOnce(sockets::EventSocket& connection,
                                 ipc::ReceivedMessage message);
  void ListBackends(ipc::schema::Backends::Builder out);
  void NoteFrame(ipc::schema::DeliveredFrame::Reader delivered);
  void NoteOutcome(ipc::schema::CrashOutcome::Reader outcome);
  void NoteFailover(ipc::schema::FailedOver::Reader failed);
  // Begins to compare the frames of a session, if that is possible.
  void StartShadow(ipc::schema::Shadow::Reader request,
                   std::vector<ipc::UniqueFd> descriptors);

  StartServices services_;
  OfferedSandbox sandbox_;
  catalog::Catalog catalog_;
  shadow::ShadowedStreams shadows_;
  DeviceRequests devices_;
  SessionWorkers workers_;
  SessionOpening opening_;
  Operators operators_;
};

}  // namespace bulkhead::supervisor
