// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>
#include <unistd.h>

#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/session_counters.h"
#include "core/supervisor/host_description.h"
#include "core/supervisor/sockets/replies.h"
#include "core/supervisor/supervisor.h"

// What a Supervisor does for operators, and for an application that operates
// its own backends.
namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;

constexpr auto kBudgetTime = 1 * kj::SECONDS;
constexpr uint32_t kMaxRequests = 200;  // within that time

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

kj::Promise<void> Supervisor::ServeOperator(
    std::shared_ptr<EventSocket> connection, RequestBudget budget) {
  // A copy of the budget travels with each connection's loop.
  return connection->Receive(0).then(
      [this, connection, budget](auto received) mutable -> kj::Promise<void> {
        if (!received || !*received) return kj::READY_NOW;
        const kj::TimePoint now = port_.getTimer().now();
        if (now - budget.since > kBudgetTime) budget = {.since = now};
        auto request = (*received)->template root<Request>();
        if (++budget.requests > kMaxRequests || !request ||
            !(request->isDescribeHost() || request->isNextEvents() ||
              request->isCommand())) {
          return kj::READY_NOW;
        }
        return Answer(*connection, **std::move(received))
            .then([this, connection, budget] {
              return ServeOperator(connection, budget);
            });
      });
}

kj::Promise<void> Supervisor::Command(EventSocket& connection,
                                      schema::BackendCommand::Reader command) {
  const std::string backend = command.getBackend().cStr();
  const char* name = NameOf(command.getAction());
  const bool reloads =
      command.getAction() == schema::BackendCommand::Action::RELOAD;
  return catalog_->Command(backend, command.getAction())
      .then([this, &connection, backend, name, reloads](Status status) {
        std::string outcome = status.ok() ? "done" : status.message();
        const auto served = catalog_->Named(backend);
        // A reload says what it did not check.
        if (reloads && status.ok() && served &&
            !(*served)->lifecycle().reason().empty()) {
          outcome += "; " + (*served)->lifecycle().reason();
        }
        events_.Add({.kind = Event::Kind::kCommand,
                     .backend = backend,
                     .text = std::string(name) + ": " + outcome});
        Acknowledge(connection, status);
      });
}

kj::Promise<void> Supervisor::AnswerEvents(
    EventSocket& connection, schema::EventsRequest::Reader request) {
  const uint64_t after = request.getAfter();
  auto answer = [this, &connection, after] {
    capnp::MallocMessageBuilder message;
    events_.Describe(after, message.initRoot<Reply>().initEvents());
    Send(connection, message);
  };
  if (!request.getWait() || events_.latest() > after) {
    answer();
    return kj::READY_NOW;
  }
  // A peer that closes its connection or says anything while it waits gives up
  // the answer. `answer` is moved, since kj would keep only a reference to it.
  return events_.WhenAfter(after)
      .then(kj::mv(answer))
      .exclusiveJoin(connection.Receive(0).then(
          [&connection](auto) { connection.Shutdown(); }));
}

Status Supervisor::ShareCounters(const std::vector<ipc::UniqueFd>& memory) {
  if (memory.size() != 2) {
    return Status(Code::kInternal, "counters without their memory");
  }
  ASSIGN_OR_RETURN(auto region,
                   FromIpc(ipc::MappedRegion::Map(
                       memory[0].get(), /*writable=*/false,
                       kMaxCountedSessions * sizeof(SessionCounter))));
  ASSIGN_OR_RETURN(
      auto ends, FromIpc(ipc::MappedRegion::Map(
                     memory[1].get(), /*writable=*/true, sizeof(SessionEnds))));
  counters_.Set(std::move(region));
  if (!ends_.Set(std::move(ends))) {
    return Status(Code::kUnsupported,
                  "this kernel does not tell the end of a thread "
                  "(set_robust_list, CONFIG_FUTEX)");
  }
  return Status();
}

void Supervisor::DescribeHost(schema::HostDescription::Builder out) {
  out.setHostPid(application_pid_);
  out.setSupervisorPid(::getpid());
  out.setUptimeMs(static_cast<uint64_t>((port_.getTimer().now() - born_) /
                                        kj::MILLISECONDS));
  out.setTier(static_cast<schema::Tier>(context_->tier));
  out.setMemoryBytes(MemoryOf(::getpid()));
  DescribeRunning(*catalog_, counters_, out);
  DescribeCounts(*catalog_, counts_, out);
  shadows_->Describe(out.getBackends());
  const auto written_off = killed_.WrittenOff();
  auto list = out.initWrittenOff(static_cast<unsigned>(written_off.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setBackend(written_off[i].backend);
    list[i].setPid(written_off[i].pid);
    list[i].setSinceMs(static_cast<uint64_t>(written_off[i].since.count()));
  }
}

}  // namespace bulkhead::supervisor
