// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/catalog/operator_commands.h"
#include "core/supervisor/shadow/shadowed_streams.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/operator_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Serves operators, such as the commands `bulkhead ps` and `bulkhead restart`:
// describes the backends, sends events as they happen, and executes commands.
// Operators have bulkheadd's uid or are root, and connect to a socket of their
// own (operator_socket.h). The application may make the same requests over its
// connection. An operator that makes any other request, or too many, is
// disconnected.
//
// Bound to the event loop's thread.
class Operators : private kj::TaskSet::ErrorHandler {
 public:
  // The application, as operators see it.
  struct Application {
    pid_t pid;
    kj::TimePoint born;  // the time at which its bulkheadd was started
  };

  // All must outlive this object.
  Operators(Application application, const backend::StartContext& context,
            catalog::Catalog& catalog, const shadow::ShadowedStreams& shadows);
  KJ_DISALLOW_COPY(Operators);

  // Answers the request, which must be describeHost, nextEvents or command.
  kj::Promise<void> Answer(sockets::EventSocket& connection,
                           ipc::schema::HostRequest::Reader request);

 private:
  // Counts the requests of one connection in the second that began at `since`.
  struct RequestBudget {
    kj::TimePoint since;
    uint32_t requests = 0;
  };

  // Serves one operator until it disconnects, makes a request that operators
  // may not make, or exceeds `budget`.
  kj::Promise<void> Serve(std::shared_ptr<sockets::EventSocket> connection,
                          RequestBudget budget);
  // Executes a command, adds it to the event log, and answers.
  kj::Promise<void> Command(sockets::EventSocket& connection,
                            ipc::schema::BackendCommand::Reader command);
  // Answers nextEvents; waits for an event if the request says so.
  kj::Promise<void> AnswerEvents(sockets::EventSocket& connection,
                                 ipc::schema::EventsRequest::Reader request);
  void DescribeHost(ipc::schema::HostDescription::Builder out);
  void taskFailed(kj::Exception&& exception) override;

  const Application application_;
  const backend::StartContext& context_;
  catalog::Catalog& catalog_;
  const shadow::ShadowedStreams& shadows_;
  catalog::OperatorCommands commands_;
  std::optional<sockets::OperatorSocket> socket_;  // empty if it cannot listen
};

}  // namespace bulkhead::supervisor
