// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/host_replies.h"

#include <capnp/message.h>
#include <unistd.h>

#include <chrono>

#include "ipc/deadline.h"
#include "ipc/try.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;

// A host that reads no reply for this long is treated as gone.
constexpr std::chrono::hours kRoomDeadline{1};
constexpr size_t kMaxMessageBytes = 480;

}  // namespace

ipc::Expected<void> HostReplies::Send(
    size_t max_words, const std::function<void(schema::Reply::Builder)>& fill) {
  const auto wake = waiter_.Await([&] { return writer_.HasRoom(max_words); },
                                  ipc::Deadline::After(kRoomDeadline),
                                  ipc::WakeReason::kRoom);
  if (wake != ipc::Wake::kReady) {
    return ipc::Fail(ipc::Code::kInternal, "the host is gone");
  }
  IPC_TRY(writer_.TryWrite(max_words, [&](capnp::MessageBuilder& message) {
    fill(message.initRoot<schema::Reply>());
  }));
  if (wake_host_ < 0) {
    ipc::WakePeer(own_, host_);
  } else {
    // Fails only if the counter is full; the host wakes then as well.
    const uint64_t one = 1;
    (void)!::write(wake_host_, &one, sizeof(one));
  }
  return {};
}

ipc::Expected<void> HostReplies::SendFailed(uint32_t epoch,
                                            const ipc::Error& error) {
  return Send(kSmallReplyWords + kMaxMessageBytes / sizeof(capnp::word),
              [&](schema::Reply::Builder reply) {
                auto failed = reply.initFailed();
                failed.setEpoch(epoch);
                auto failure = failed.initFailure();
                failure.setCode(static_cast<schema::ErrorCode>(error.code));
                failure.setMessage(error.message.substr(0, kMaxMessageBytes));
              });
}

}  // namespace bulkhead::worker::session
