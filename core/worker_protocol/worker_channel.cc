// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/worker_channel.h"

#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/capnp_read.h"
#include "ipc/waiter.h"

namespace bulkhead::session {

namespace schema = ipc::schema;

Result<std::unique_ptr<WorkerChannel>> WorkerChannel::Create() {
  ASSIGN_OR_RETURN(auto requests, FromIpc(ipc::OwnedRegion::CreateWritable(
                                      "bulkhead-requests",
                                      ipc::RingGeometry::kRequestRegionBytes)));
  ASSIGN_OR_RETURN(auto replies, FromIpc(ipc::OwnedRegion::CreateReadable(
                                     "bulkhead-replies",
                                     ipc::RingGeometry::kReplyRegionBytes)));
  ASSIGN_OR_RETURN(auto wake_worker, FromIpc(ipc::MakeEventFd()));
  ASSIGN_OR_RETURN(auto wake_host, FromIpc(ipc::MakeEventFd()));
  return std::unique_ptr<WorkerChannel>(
      new WorkerChannel(std::move(requests), std::move(replies),
                        std::move(wake_worker), std::move(wake_host)));
}

WorkerChannel::WorkerChannel(ipc::OwnedRegion requests,
                             ipc::OwnedRegion replies,
                             ipc::UniqueFd wake_worker, ipc::UniqueFd wake_host)
    : requests_(std::move(requests)),
      replies_(std::move(replies)),
      wake_worker_(std::move(wake_worker)),
      wake_host_(std::move(wake_host)),
      writer_(requests_.writable_bytes(), worker_header(),
              ipc::RingGeometry::kRequestRingBytes),
      reader_(replies_.bytes(), header(), ipc::RingGeometry::kReplyRingBytes) {}

Status WorkerChannel::SendMemory(int media_fd, MediaAccess access,
                                 const SendMessage& send) {
  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>();
  if (access == MediaAccess::kDirect) {
    attach.setSession();
  } else {
    attach.setServedSession();
  }
  const int descriptors[] = {requests_.fd(), replies_.fd(), wake_worker_.get(),
                             wake_host_.get(), media_fd};
  return send(message, descriptors);
}

Status WorkerChannel::SendPool(const FramePool& pool, const SendMessage& send) {
  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>().initFramePool();
  attach.setSlotCount(pool.slot_count());
  attach.setSlotBytes(pool.slot_bytes());
  const int descriptors[] = {pool.fd()};
  return send(message, descriptors);
}

Status WorkerChannel::Request(size_t max_words, const FillRequest& fill) {
  auto written =
      writer_.TryWrite(max_words, [&](capnp::MessageBuilder& message) {
        fill(message.initRoot<schema::Request>());
      });
  if (!written) {
    return Status(Code::kBackendMisbehaved, std::move(written).error().message);
  }
  Wake();
  return Status();
}

Status WorkerChannel::Grant(FramePool& pool) {
  while (const auto grant = pool.ledger().TakeForGrant()) {
    RETURN_IF_ERROR(
        Request(kSmallRequestWords, [&](schema::Request::Builder request) {
          auto builder = request.initGrant();
          builder.setSlot(grant->slot);
          builder.setGeneration(grant->generation);
        }));
    ++grants_;
  }
  return Status();
}

ipc::Expected<bool> WorkerChannel::TryRead() {
  auto read = reader_.TryRead();
  if (!read) return tl::unexpected(std::move(read).error());
  if (!*read) return false;
  reply_.emplace(*std::move(*read));
  return true;
}

ipc::Expected<Status> WorkerChannel::Take(const TakeReply& take) {
  // Room is made by TryRead(); the worker may go on while the reply is judged.
  ipc::WakePeer(worker_header(), wake_worker_.get(), ipc::WakeReason::kRoom);
  const ipc::CopiedMessage reply = *std::exchange(reply_, std::nullopt);
  return ipc::ReadCatching(
      [&]() -> Status { return take(reply.root<schema::Reply>()); });
}

void WorkerChannel::Wake() {
  ipc::WakePeer(worker_header(), wake_worker_.get());
}

void WorkerChannel::WakeForEveryReply() {
  header()->sleeping.store(static_cast<uint32_t>(ipc::WakeReason::kRecord));
}

void WorkerChannel::ClearWake() {
  uint64_t count;
  (void)!::read(wake_host_.get(), &count, sizeof(count));
}

}  // namespace bulkhead::session
