// SPDX-License-Identifier: Apache-2.0
#include "core/control/control_exchange.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <unistd.h>

#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/capnp_read.h"

namespace bulkhead {
namespace {

namespace schema = ipc::schema;

// The largest size of a reply. The largest replies list all backends and
// diagnostics.
constexpr size_t kMaxReplyBytes = size_t{64} << 20;

Status FromFailure(schema::Failure::Reader failure) {
  return Status(FromIpc(static_cast<ipc::Code>(failure.getCode())),
                failure.getMessage().cStr());
}

}  // namespace

Status UnexpectedReply() {
  return Status(Code::kInternal,
                "the supervisor gave an answer of another "
                "kind than was asked for");
}

Status TakeConfigured(schema::HostReply::Reader reply, ipc::ReceivedMessage&) {
  return reply.isConfigured() ? Status() : UnexpectedReply();
}

Status SendRequest(int socket, const FillRequest& fill,
                   std::span<const int> fds, ipc::Deadline deadline) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<schema::HostRequest>());
  if (auto sent = ipc::SendMessage(socket, message, fds, deadline); !sent) {
    if (sent.error().code == ipc::Code::kResourceExhausted) {
      return FromIpc(std::move(sent).error());
    }
    // The peer is trusted, so any other failure to send means that it is gone.
    return Status(Code::kBackendLost,
                  "the supervisor bulkheadd is gone: " + sent.error().message);
  }
  return Status();
}

Status ReadReply(ipc::ReceivedMessage& answer, const TakeReply& take) {
  const auto read = [&](schema::HostReply::Reader reply) -> Status {
    if (reply.isFailed()) return FromFailure(reply.getFailed());
    return take(reply, answer);
  };
  auto status = ipc::ReadCatching([&]() -> Status {
    auto reply = answer.root<schema::HostReply>();
    if (!reply) return FromIpc(std::move(reply).error());
    if (!reply->isElsewhere()) return read(*reply);
    if (answer.descriptors.size() != 1) return UnexpectedReply();
    // The reply is in a memfd. The file offset is shared with bulkheadd, which
    // has written the reply, so the offset is at its end.
    ::lseek(answer.descriptors[0].get(), 0, SEEK_SET);
    capnp::StreamFdMessageReader elsewhere(
        answer.descriptors[0].get(),
        {.traversalLimitInWords = kMaxReplyBytes / sizeof(capnp::word)});
    return read(elsewhere.getRoot<schema::HostReply>());
  });
  return status ? *std::move(status) : FromIpc(std::move(status).error());
}

Status AwaitReply(int socket, ipc::Deadline deadline, const TakeReply& take,
                  bool* answered) {
  auto received = ipc::ReceiveMessage(socket, ipc::kMaxDescriptors, deadline);
  if (!received) return FromIpc(std::move(received).error());
  if (!*received) {
    return Status(Code::kBackendLost, "the supervisor bulkheadd died");
  }
  if (answered) *answered = true;
  return ReadReply(**received, take);
}

Status Exchange(int socket, const FillRequest& fill, std::span<const int> fds,
                ipc::Deadline deadline, const TakeReply& take, bool* answered) {
  RETURN_IF_ERROR(SendRequest(socket, fill, fds, deadline));
  return AwaitReply(socket, deadline, take, answered);
}

}  // namespace bulkhead
