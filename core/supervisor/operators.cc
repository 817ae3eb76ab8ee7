// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/operators.h"

#include <capnp/message.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "core/supervisor/host_description.h"
#include "core/supervisor/sockets/replies.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using Reply = schema::HostReply;

constexpr auto kBudgetTime = 1 * kj::SECONDS;
constexpr uint32_t kMaxRequests = 200;  // within kBudgetTime

const char* NameOf(schema::BackendCommand::Action action) {
  switch (action) {
    case schema::BackendCommand::Action::RESTART:
      return "restart";
    case schema::BackendCommand::Action::RELOAD:
      return "reload";
    case schema::BackendCommand::Action::DISABLE:
      return "disable";
    case schema::BackendCommand::Action::ENABLE:
      break;
  }
  return "enable";
}

}  // namespace

Operators::Operators(Application application,
                     const backend::StartContext& context,
                     catalog::Catalog& catalog,
                     const shadow::ShadowedStreams& shadows)
    : application_(application),
      context_(context),
      catalog_(catalog),
      shadows_(shadows),
      commands_(catalog, context_) {
  // A failure is no error: without this socket the application works as before,
  // and only operators cannot connect.
  if (auto socket = sockets::OperatorSocket::Listen(application_.pid)) {
    socket_.emplace(
        context_.port, *std::move(socket),
        [this](std::shared_ptr<sockets::EventSocket> peer) {
          return Serve(std::move(peer),
                       {.since = context_.port.getTimer().now()});
        },
        static_cast<kj::TaskSet::ErrorHandler&>(*this));
  }
}

void Operators::taskFailed(kj::Exception&&) {
  // Only kj throws here, and only on one connection. The others go on.
}

kj::Promise<void> Operators::Answer(sockets::EventSocket& connection,
                                    schema::HostRequest::Reader request) {
  if (request.isCommand()) return Command(connection, request.getCommand());
  if (request.isNextEvents()) {
    return AnswerEvents(connection, request.getNextEvents());
  }
  return catalog_.LookEverywhere().then([this, &connection] {
    capnp::MallocMessageBuilder answer;
    DescribeHost(answer.initRoot<Reply>().initHost());
    Send(connection, answer);
  });
}

kj::Promise<void> Operators::Serve(
    std::shared_ptr<sockets::EventSocket> connection, RequestBudget budget) {
  // Each call passes its budget on to the next one, so every connection has a
  // budget of its own.
  return connection->Receive(0).then(
      [this, connection, budget](auto received) mutable -> kj::Promise<void> {
        if (!received || !*received) return kj::READY_NOW;
        const kj::TimePoint now = context_.port.getTimer().now();
        if (now - budget.since > kBudgetTime) budget = {.since = now};
        auto request = (*received)->template root<schema::HostRequest>();
        if (++budget.requests > kMaxRequests || !request ||
            !(request->isDescribeHost() || request->isNextEvents() ||
              request->isCommand())) {
          return kj::READY_NOW;
        }
        return Answer(*connection, *request).then([this, connection, budget] {
          return Serve(connection, budget);
        });
      });
}

kj::Promise<void> Operators::Command(sockets::EventSocket& connection,
                                     schema::BackendCommand::Reader command) {
  const std::string backend = command.getBackend().cStr();
  const char* name = NameOf(command.getAction());
  const bool reloads =
      command.getAction() == schema::BackendCommand::Action::RELOAD;
  return commands_.Execute(backend, command.getAction())
      .then([this, &connection, backend, name, reloads](Status status) {
        std::string outcome = status.ok() ? "done" : status.message();
        const auto served = catalog_.Named(backend);
        // After a reload, the reason names what the health check left out.
        if (reloads && status.ok() && served &&
            !(*served)->lifecycle().reason().empty()) {
          outcome += "; " + (*served)->lifecycle().reason();
        }
        context_.events.Add({.kind = Event::Kind::kCommand,
                             .backend = backend,
                             .text = std::string(name) + ": " + outcome});
        sockets::Acknowledge(connection, status);
      });
}

kj::Promise<void> Operators::AnswerEvents(
    sockets::EventSocket& connection, schema::EventsRequest::Reader request) {
  const uint64_t after = request.getAfter();
  auto answer = [this, &connection, after] {
    capnp::MallocMessageBuilder message;
    context_.events.Describe(after, message.initRoot<Reply>().initEvents());
    Send(connection, message);
  };
  if (!request.getWait() || context_.events.latest() > after) {
    answer();
    return kj::READY_NOW;
  }
  // A peer that closes its connection or sends a message while it waits gets no
  // answer. `answer` is moved, since kj would keep only a reference to it.
  return context_.events.WhenAfter(after)
      .then(kj::mv(answer))
      .exclusiveJoin(connection.Receive(0).then(
          [&connection](auto) { connection.Shutdown(); }));
}

void Operators::DescribeHost(schema::HostDescription::Builder out) {
  out.setHostPid(application_.pid);
  out.setSupervisorPid(::getpid());
  out.setUptimeMs(static_cast<uint64_t>(
      (context_.port.getTimer().now() - application_.born) / kj::MILLISECONDS));
  out.setTier(static_cast<schema::Tier>(context_.tier));
  out.setMemoryBytes(MemoryOf(::getpid()));
  DescribeRunning(catalog_, context_.counters, out);
  DescribeCounts(catalog_, context_.counts, out);
  shadows_.Describe(out.getBackends());
  const auto written_off = context_.killed.WrittenOff();
  auto list = out.initWrittenOff(static_cast<unsigned>(written_off.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setBackend(written_off[i].backend);
    list[i].setPid(written_off[i].pid);
    list[i].setSinceMs(static_cast<uint64_t>(written_off[i].since.count()));
  }
}

}  // namespace bulkhead::supervisor
