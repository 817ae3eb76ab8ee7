// SPDX-License-Identifier: Apache-2.0
#include "core/control/event_stream.h"

#include <utility>
#include <variant>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/control_exchange.h"
#include "core/control/event_messages.h"

namespace bulkhead {
namespace {

// The longest time for sending a request. If that takes longer, bulkheadd is
// stopped.
constexpr std::chrono::milliseconds kSendPatience{1'000};

Status Gone() {
  return Status(Code::kBackendLost, "the supervisor bulkheadd has ended");
}

}  // namespace

Status EventStream::Ask(uint64_t after, bool wait) {
  return SendRequest(
      socket_.get(),
      [&](ipc::schema::HostRequest::Builder request) {
        auto next = request.initNextEvents();
        next.setAfter(after);
        next.setWait(wait);
      },
      {}, ipc::Deadline::After(kSendPatience));
}

Result<std::vector<Event>> EventStream::Read(ipc::ReceivedMessage& answer) {
  std::vector<Event> events;
  RETURN_IF_ERROR(ReadReply(
      answer, [&](ipc::schema::HostReply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isEvents()) return UnexpectedReply();
        events = ToEvents(reply.getEvents(), host_pid_);
        return Status();
      }));
  return events;
}

Result<std::vector<Event>> EventStream::TryTake() {
  auto received = ipc::TryReceiveMessage(socket_.get(), ipc::kMaxDescriptors);
  if (!received) return FromIpc(std::move(received).error());
  if (const auto* none = std::get_if<ipc::NoMessage>(&*received)) {
    if (*none == ipc::NoMessage::kClosed) return Gone();
    return std::vector<Event>();
  }
  ASSIGN_OR_RETURN(auto events,
                   Read(std::get<ipc::ReceivedMessage>(*received)));
  // If this fails, the next TryTake reports that bulkheadd is gone.
  if (!events.empty()) (void)Ask(events.back().number, /*wait=*/true);
  return events;
}

Result<std::vector<Event>> EventStream::Take(ipc::Deadline deadline) {
  auto received =
      ipc::ReceiveMessage(socket_.get(), ipc::kMaxDescriptors, deadline);
  if (!received) return FromIpc(std::move(received).error());
  if (!*received) return Gone();
  return Read(**received);
}

}  // namespace bulkhead
