// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/worker_channel.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/capnp_read.h"
#include "ipc/waiter.h"

namespace bulkhead::worker_protocol {

namespace schema = ipc::schema;

Result<std::unique_ptr<WorkerChannel>> WorkerChannel::Create(Host host) {
  ASSIGN_OR_RETURN(auto requests, FromIpc(ipc::OwnedRegion::CreateWritable(
                                      "bulkhead-requests",
                                      ipc::RingGeometry::kRequestRegionBytes)));
  ASSIGN_OR_RETURN(auto replies, FromIpc(ipc::OwnedRegion::CreateReadable(
                                     "bulkhead-replies",
                                     ipc::RingGeometry::kReplyRegionBytes)));
  ipc::UniqueFd wake_host;
  if (host == Host::kEventLoop) {
    wake_host = ipc::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_host) {
      return FromIpc(ipc::Expected<void>(ipc::FailErrno(
          ipc::Code::kResourceExhausted, "cannot make an eventfd", errno)));
    }
  }
  return std::unique_ptr<WorkerChannel>(new WorkerChannel(
      std::move(requests), std::move(replies), std::move(wake_host)));
}

WorkerChannel::WorkerChannel(ipc::OwnedRegion requests,
                             ipc::OwnedRegion replies, ipc::UniqueFd wake_host)
    : requests_(std::move(requests)),
      replies_(std::move(replies)),
      wake_host_(std::move(wake_host)),
      writer_(requests_.writable_bytes(), worker_header(),
              ipc::RingGeometry::kRequestRingBytes),
      reader_(replies_.bytes(), header(), ipc::RingGeometry::kReplyRingBytes) {
  // An event loop does not publish when it begins or ends to sleep. Its header
  // always says that it sleeps, so the worker always wakes it.
  if (wake_host_) {
    header()->sleeping.store(static_cast<uint32_t>(ipc::WakeReason::kRecord));
  }
}

std::vector<int> WorkerChannel::descriptors(int media_fd) const {
  return Descriptors(requests_.fd(), media_fd);
}

std::vector<int> WorkerChannel::served_descriptors(int window_fd) const {
  return Descriptors(window_fd, window_fd);
}

std::vector<int> WorkerChannel::Descriptors(int window_fd, int media_fd) const {
  std::vector<int> descriptors = {requests_.fd(), replies_.fd(), window_fd,
                                  media_fd};
  if (wake_host_) descriptors.push_back(wake_host_.get());
  return descriptors;
}

void WorkerChannel::CloseDescriptors() {
  requests_.CloseDescriptor();
  replies_.CloseDescriptor();
}

Status WorkerChannel::SendAttach(std::span<const int> descriptors,
                                 MediaAccess access, const SendMessage& send) {
  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>();
  if (access == MediaAccess::kDirect) {
    attach.setSession();
  } else {
    attach.setServedSession();
  }
  return send(message, descriptors);
}

Status WorkerChannel::SendPool(uint32_t slot_count, uint64_t slot_bytes,
                               int pool_fd, const SendMessage& send) {
  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>().initFramePool();
  attach.setSlotCount(slot_count);
  attach.setSlotBytes(slot_bytes);
  const int descriptors[] = {pool_fd};
  return send(message, descriptors);
}

Status WorkerChannel::Request(size_t max_words, const FillRequest& fill) {
  RETURN_IF_ERROR(Write(max_words, fill));
  Wake();
  return Status();
}

Status WorkerChannel::Write(size_t max_words, const FillRequest& fill) {
  auto written =
      writer_.TryWrite(max_words, [&](capnp::MessageBuilder& message) {
        fill(message.initRoot<schema::Request>());
      });
  if (!written) {
    return Status(Code::kBackendMisbehaved, std::move(written).error().message);
  }
  return Status();
}

Status WorkerChannel::Grant(FramePool& pool) {
  while (const auto grant = pool.ledger().TakeForGrant()) {
    RETURN_IF_ERROR(
        Write(kSmallRequestWords, [&](schema::Request::Builder request) {
          auto builder = request.initGrant();
          builder.setSlot(grant->slot);
          builder.setGeneration(grant->generation);
        }));
    ++grants_;
    ++grants_since_wake_;
  }
  if (2 * grants_since_wake_ >= pool.ledger().granted_count()) Wake();
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
  // TryRead() has made room in the ring. The worker can use it while the reply
  // is validated.
  ipc::WakePeer(header(), worker_header(), ipc::WakeReason::kRoom);
  const ipc::CopiedMessage reply = *std::exchange(reply_, std::nullopt);
  return ipc::ReadCatching(
      [&]() -> Status { return take(reply.root<schema::Reply>()); });
}

void WorkerChannel::Wake() {
  grants_since_wake_ = 0;
  ipc::WakePeer(header(), worker_header());
}

void WorkerChannel::Close() {
  header()->closed.store(1);
  Wake();
  ipc::WakePeer(header(), worker_header(), ipc::WakeReason::kRoom);
}

void WorkerChannel::ClearWake() {
  uint64_t count;
  (void)!::read(wake_host_.get(), &count, sizeof(count));
}

}  // namespace bulkhead::worker_protocol
