// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sockets/replies.h"

#include <capnp/serialize.h>
#include <sys/mman.h>

#include "ipc/unique_fd.h"

namespace bulkhead::sockets {
namespace {

namespace schema = ipc::schema;

// The largest message that is sent in a packet; see ipc/message_socket.h.
constexpr size_t kMaxReplyWords = 6'000;

// Writes the message into a memfd.
Result<ipc::UniqueFd> ToMemory(capnp::MessageBuilder& message) {
  ipc::UniqueFd memory(::memfd_create("bulkhead-reply", MFD_CLOEXEC));
  if (!memory) {
    return Status(Code::kResourceExhausted, "cannot make a memfd for a reply");
  }
  try {
    capnp::writeMessageToFd(memory.get(), message);
  } catch (const kj::Exception& exception) {
    return Status(Code::kResourceExhausted, exception.getDescription().cStr());
  }
  return memory;
}

}  // namespace

void SetFailure(schema::HostReply::Builder reply, const Status& status) {
  auto failure = reply.initFailed();
  failure.setCode(static_cast<schema::ErrorCode>(status.code()));
  failure.setMessage(status.message());
}

void Send(EventSocket& connection, capnp::MessageBuilder& message,
          std::span<const int> descriptors) {
  const size_t words = capnp::computeSerializedSizeInWords(message);
  // Closes the connection after a failure: a peer that missed an answer would
  // take the next answer for it.
  const auto send = [&connection](auto& answer, std::span<const int> fds) {
    if (!connection.Send(answer, fds)) connection.Shutdown();
  };
  if (words <= kMaxReplyWords) return send(message, descriptors);
  capnp::MallocMessageBuilder envelope;
  auto reply = envelope.initRoot<schema::HostReply>();
  const auto memory = ToMemory(message);
  if (!memory) {
    SetFailure(reply, memory.error());
    return send(envelope, {});
  }
  reply.setElsewhere(words * sizeof(capnp::word));
  const int descriptor[] = {memory->get()};
  send(envelope, descriptor);
}

void Fail(EventSocket& connection, const Status& status) {
  capnp::MallocMessageBuilder answer;
  SetFailure(answer.initRoot<schema::HostReply>(), status);
  Send(connection, answer);
}

void Acknowledge(EventSocket& connection, const Status& status) {
  if (!status.ok()) return Fail(connection, status);
  capnp::MallocMessageBuilder answer;
  answer.initRoot<schema::HostReply>().setConfigured();
  Send(connection, answer);
}

}  // namespace bulkhead::sockets
