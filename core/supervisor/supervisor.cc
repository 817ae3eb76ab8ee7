// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/supervisor.h"

#include <utility>

#include "core/supervisor/sockets/replies.h"
#include "ipc/protocol_version.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;

// The most descriptors in one message: three memfds of a session, and its
// media.
constexpr size_t kMostDescriptors = 4;
// The number of descriptors of `configure` if the programs are sent along: the
// application's pidfd, the reaper's program and the worker's.
constexpr size_t kWithPrograms = 3;

}  // namespace

Supervisor::Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
                       pid_t application_pid)
    : port_(port),
      root_(
          std::make_shared<sockets::EventSocket>(port, std::move(application))),
      application_{.pid = application_pid, .born = port.getTimer().now()},
      tasks_(*this) {}

void Supervisor::taskFailed(kj::Exception&&) {
  // Only kj throws here, and only on one connection. The others go on.
}

kj::Promise<void> Supervisor::Run() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  gone_ = kj::mv(paf.fulfiller);
  // The root connection closes when the application ends or drops its Host.
  return Serve(root_).exclusiveJoin(kj::mv(paf.promise));
}

kj::Promise<void> Supervisor::Serve(
    std::shared_ptr<sockets::EventSocket> connection) {
  return connection->Receive(kMostDescriptors)
      .then([this, connection](auto received) -> kj::Promise<void> {
        const bool closed = !received || !*received;
        if (requests_) requests_->HearFrom(*connection, closed);
        if (closed) return kj::READY_NOW;
        return Answer(*connection, **std::move(received))
            .then([this, connection] { return Serve(connection); });
      });
}

kj::Promise<void> Supervisor::Answer(sockets::EventSocket& connection,
                                     ipc::ReceivedMessage message) {
  const auto request = message.root<schema::HostRequest>();
  if (!request) return kj::READY_NOW;
  if (request->isConfigure()) {
    const Status configured =
        Configure(request->getConfigure(), std::move(message.descriptors));
    if (!configured.ok()) {
      Fail(connection, configured);
      return kj::READY_NOW;
    }
    return requests_->LoadAgain(request->getConfigure()).then([&connection] {
      sockets::Acknowledge(connection, Status());
    });
  }
  // No other request can be answered before `configure`.
  if (!requests_) return kj::READY_NOW;
  if (request->isConnect()) {
    ipc::UniqueFd socket;
    if (!message.descriptors.empty()) {
      socket = std::move(message.descriptors[0]);
    }
    tasks_.add(Serve(
        std::make_shared<sockets::EventSocket>(port_, std::move(socket))));
    sockets::Acknowledge(connection, Status());
    return kj::READY_NOW;
  }
  return requests_->Answer(connection, std::move(message));
}

Status Supervisor::Configure(schema::Configuration::Reader configuration,
                             std::vector<ipc::UniqueFd> descriptors) {
  if (configuration.getProtocolVersion() != ipc::kProtocolVersion) {
    return Status(Code::kInvalidArgument,
                  "bulkheadd and libbulkhead are of different versions; "
                  "install both from one release");
  }
  if (requests_ || descriptors.empty() || !descriptors[0]) {
    return Status(Code::kInternal, "configured twice or without a pidfd");
  }
  application_pidfd_ = std::move(descriptors[0]);
  application_observer_ = kj::heap<kj::UnixEventPort::FdObserver>(
      port_, application_pidfd_.get(),
      kj::UnixEventPort::FdObserver::OBSERVE_READ);
  tasks_.add(application_observer_->whenBecomesReadable().then(
      [this] { gone_->fulfill(); }));
  // After the pidfd, the application sends both programs or none.
  const bool has_programs = descriptors.size() == kWithPrograms;
  requests_.emplace(
      port_, application_, configuration, application_pidfd_.get(),
      backend::StartServices::Programs{
          .reaper = {.path = configuration.getReaperPath().cStr(),
                     .file = has_programs ? std::move(descriptors[1])
                                          : ipc::UniqueFd()},
          .worker = {.path = configuration.getWorkerPath().cStr(),
                     .file = has_programs ? std::move(descriptors[2])
                                          : ipc::UniqueFd()}},
      tasks_);
  return Status();
}

}  // namespace bulkhead::supervisor
