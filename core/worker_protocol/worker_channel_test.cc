// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/worker_channel.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "ipc/region_header.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;

bool IsReadable(int fd) {
  pollfd poll{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, 0) == 1;
}

// A channel and the worker's end of it, made from the descriptors that the
// worker would receive.
class WorkerChannelTest : public ::testing::Test {
 protected:
  void SetUp() override { Connect(WorkerChannel::Host::kThread); }

  void Connect(WorkerChannel::Host host) {
    channel_ = WorkerChannel::Create(host).value();
    fds_.clear();
    const auto keep = [this](capnp::MessageBuilder& message,
                             std::span<const int> descriptors) {
      served_ = message.getRoot<schema::Attach>().asReader().isServedSession();
      for (const int fd : descriptors) fds_.emplace_back(::dup(fd));
      return Status();
    };
    ASSERT_TRUE(WorkerChannel::SendAttach(channel_->descriptors(STDIN_FILENO),
                                          WorkerChannel::MediaAccess::kDirect,
                                          keep)
                    .ok());
    ASSERT_EQ(fds_.size(), host == WorkerChannel::Host::kThread ? 4u : 5u);
    channel_->CloseDescriptors();
    requests_.emplace(
        ipc::MappedRegion::Map(fds_[0].get(), false,
                               ipc::RingGeometry::kRequestRegionBytes)
            .value());
    replies_.emplace(
        ipc::MappedRegion::Map(fds_[1].get(), true,
                               ipc::RingGeometry::kReplyRegionBytes)
            .value());
    reader_.emplace(requests_->bytes(),
                    ipc::HeaderOf(replies_->writable_bytes()),
                    ipc::RingGeometry::kRequestRingBytes);
    writer_.emplace(replies_->writable_bytes(),
                    ipc::HeaderOf(requests_->bytes()),
                    ipc::RingGeometry::kReplyRingBytes);
  }

  void Reply(uint32_t paused) {
    ASSERT_TRUE(writer_->TryWrite(64, [&](capnp::MessageBuilder& message) {
      message.initRoot<schema::Reply>().setPaused(paused);
    }));
  }

  std::unique_ptr<WorkerChannel> channel_;
  bool served_ = true;
  std::vector<ipc::UniqueFd> fds_;
  std::optional<ipc::MappedRegion> requests_;
  std::optional<ipc::MappedRegion> replies_;
  std::optional<ipc::RingReader> reader_;
  std::optional<ipc::RingWriter> writer_;
};

TEST_F(WorkerChannelTest, SaysHowTheMediaIsReached) {
  EXPECT_FALSE(served_);
  const auto look = [this](capnp::MessageBuilder& message,
                           std::span<const int> descriptors) {
    served_ = message.getRoot<schema::Attach>().asReader().isServedSession();
    EXPECT_EQ(descriptors.back(), STDIN_FILENO);
    return Status();
  };
  ASSERT_TRUE(WorkerChannel::SendAttach(channel_->descriptors(STDIN_FILENO),
                                        WorkerChannel::MediaAccess::kServed,
                                        look)
                  .ok());
  EXPECT_TRUE(served_);
}

TEST_F(WorkerChannelTest, ReturnsTheErrorOfSending) {
  const auto fail = [](capnp::MessageBuilder&, std::span<const int>) {
    return Status(Code::kBackendLost, "no socket");
  };
  EXPECT_EQ(WorkerChannel::SendPool(2, 4096, STDIN_FILENO, fail).message(),
            "no socket");
  EXPECT_EQ(
      WorkerChannel::SendAttach({}, WorkerChannel::MediaAccess::kDirect, fail)
          .message(),
      "no socket");
}

TEST_F(WorkerChannelTest, ARequestArrivesAndWakesASleepingWorker) {
  ipc::HeaderOf(replies_->writable_bytes())
      ->sleeping.store(static_cast<uint32_t>(ipc::WakeReason::kRecord));
  ASSERT_TRUE(
      channel_
          ->Request(kSmallRequestWords, [](auto request) { request.setScan(); })
          .ok());
  EXPECT_EQ(channel_->header()->wakes, 1u);
  const auto request = reader_->TryRead().value();
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->root<schema::Request>().isScan());
}

TEST_F(WorkerChannelTest, AClosedSessionWakesWhateverTheWorkerWaitsFor) {
  for (const auto reason : {ipc::WakeReason::kRecord, ipc::WakeReason::kRoom}) {
    ipc::HeaderOf(replies_->writable_bytes())
        ->sleeping.store(static_cast<uint32_t>(reason));
    const uint32_t wakes = channel_->header()->wakes;
    channel_->Close();
    EXPECT_EQ(channel_->header()->wakes, wakes + 1);
    EXPECT_EQ(ipc::HeaderOf(requests_->bytes())->closed, 1u);
  }
}

TEST_F(WorkerChannelTest, EveryFreeSlotIsGranted) {
  const auto pool =
      FramePool::Create(4096, "pages", 3, 1 << 20, FramePool::Slots::kAllocated)
          .value();
  ASSERT_TRUE(channel_->Grant(*pool).ok());
  EXPECT_EQ(pool->ledger().granted_count(), 3u);
  int grants = 0;
  while (const auto request = reader_->TryRead().value()) {
    grants += request->root<schema::Request>().isGrant();
  }
  EXPECT_EQ(grants, 3);
}

TEST_F(WorkerChannelTest, GrantsWakeASleepingWorkerOnceHalfIsToBeFilled) {
  const auto pool =
      FramePool::Create(4096, "pages", 8, 1 << 20, FramePool::Slots::kAllocated)
          .value();
  ASSERT_TRUE(channel_->Grant(*pool).ok());
  ipc::HeaderOf(replies_->writable_bytes())
      ->sleeping.store(static_cast<uint32_t>(ipc::WakeReason::kRecord));
  const uint32_t wakes = channel_->header()->wakes;
  for (uint32_t taken = 0; taken < 4; ++taken) {
    EXPECT_EQ(channel_->header()->wakes, wakes) << taken;
    const auto grant = reader_->TryRead().value();
    ASSERT_TRUE(grant);
    const auto filled = grant->root<schema::Request>().getGrant();
    ASSERT_TRUE(
        pool->ledger().Publish(filled.getSlot(), filled.getGeneration()));
    pool->ledger().Release(filled.getSlot());
    ASSERT_TRUE(channel_->Grant(*pool).ok());
  }
  EXPECT_EQ(channel_->header()->wakes, wakes + 1);
}

TEST_F(WorkerChannelTest, AWorkerThatReadsNoRequestsMisbehaves) {
  Status status;
  for (int i = 0; i < 10'000 && status.ok(); ++i) {
    status = channel_->Request(kSmallRequestWords,
                               [](auto request) { request.setScan(); });
  }
  EXPECT_EQ(status.code(), Code::kBackendMisbehaved);
}

TEST_F(WorkerChannelTest, RepliesAreTakenOneByOne) {
  EXPECT_FALSE(channel_->TryRead().value());
  Reply(7);
  Reply(8);
  for (const uint32_t expected : {7u, 8u}) {
    ASSERT_TRUE(channel_->TryRead().value());
    const auto taken = channel_->Take([&](schema::Reply::Reader reply) {
      EXPECT_EQ(reply.getPaused(), expected);
      return Status(Code::kBadInput, "as the caller says");
    });
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->message(), "as the caller says");
  }
  EXPECT_FALSE(channel_->TryRead().value());
}

TEST_F(WorkerChannelTest, AMalformedReplyIsAnError) {
  Reply(7);
  // The root is a struct of one word, far out of the message.
  auto words = writer_->Reserve(2).value();
  const uint64_t far_pointer[] = {uint64_t{1} << 32 | uint64_t{1} << 20, 0};
  std::memcpy(static_cast<void*>(words.begin()), far_pointer,
              sizeof(far_pointer));
  writer_->Commit(2);
  ASSERT_TRUE(channel_->TryRead().value());
  ASSERT_TRUE(channel_->Take([](auto) { return Status(); }));
  ASSERT_TRUE(channel_->TryRead().value());
  const auto taken = channel_->Take([](schema::Reply::Reader reply) {
    (void)reply.getFailed().getEpoch();
    return Status();
  });
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ipc::Code::kBackendMisbehaved);
}

TEST_F(WorkerChannelTest, AnEventLoopIsWokenForEveryReply) {
  EXPECT_EQ(channel_->wake_fd(), -1);
  Connect(WorkerChannel::Host::kEventLoop);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(IsReadable(channel_->wake_fd()));
    Reply(i);
    const uint64_t one = 1;
    ASSERT_EQ(::write(fds_[4].get(), &one, sizeof(one)), 8);
    EXPECT_TRUE(IsReadable(channel_->wake_fd()));
    channel_->ClearWake();
    EXPECT_TRUE(channel_->TryRead().value());
  }
}

}  // namespace
}  // namespace bulkhead::worker_protocol
