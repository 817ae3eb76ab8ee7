// SPDX-License-Identifier: Apache-2.0
#include "ipc/waiter.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/error.h"
#include "ipc/message_socket.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::ipc {
namespace {

Deadline Soon() { return Deadline::After(std::chrono::milliseconds(20)); }
Deadline Late() { return Deadline::After(std::chrono::seconds(20)); }

bool IsReadable(int fd) {
  pollfd poll = {fd, POLLIN, 0};
  const timespec now = {};
  return ppoll(&poll, 1, &now, nullptr) > 0;
}

TEST(WakePeerTest, WritesOnlyForASleeperAndItsReason) {
  RegionHeader header = {};
  const UniqueFd event = *MakeEventFd();
  WakePeer(&header, event.get());
  EXPECT_FALSE(IsReadable(event.get()));
  header.sleeping = static_cast<uint32_t>(WakeReason::kRoom);
  WakePeer(&header, event.get(), WakeReason::kRecord);
  EXPECT_FALSE(IsReadable(event.get()));
  WakePeer(&header, event.get(), WakeReason::kRoom);
  EXPECT_TRUE(IsReadable(event.get()));
}

TEST(WakePeerTest, AFullCounterDoesNotBlock) {
  RegionHeader header = {};
  header.sleeping = 1;
  const UniqueFd event = *MakeEventFd();
  const uint64_t most = UINT64_MAX - 1;
  ASSERT_EQ(write(event.get(), &most, sizeof(most)), 8);
  WakePeer(&header, event.get());
  EXPECT_TRUE(IsReadable(event.get()));
}

// The parameter says whether the waiter spins before it sleeps.
class WaiterTest : public testing::TestWithParam<bool> {
 protected:
  RegionHeader header_ = {};
  UniqueFd event_ = *MakeEventFd();
};

INSTANTIATE_TEST_SUITE_P(Spin, WaiterTest, testing::Bool());

TEST_P(WaiterTest, WhatIsReadyIsNotWaitedFor) {
  Waiter waiter(&header_, event_.get(), -1, GetParam());
  int calls = 0;
  const auto ready = [&] { return ++calls > 0; };
  EXPECT_EQ(waiter.Await(ready, Soon()), Wake::kReady);
  EXPECT_EQ(calls, 1);
}

TEST_P(WaiterTest, ADeadlineEndsTheWaitAndTheSleepIsOver) {
  Waiter waiter(&header_, event_.get(), -1, GetParam());
  EXPECT_EQ(waiter.Await([] { return false; }, Soon()), Wake::kDeadline);
  EXPECT_EQ(header_.sleeping, 0u);
}

TEST_P(WaiterTest, TheSleepingWordTellsTheReason) {
  Waiter waiter(&header_, event_.get(), -1, GetParam());
  uint32_t told = 0;
  waiter.Await(
      [&] {
        told |= header_.sleeping;
        return false;
      },
      Soon(), WakeReason::kRoom);
  EXPECT_EQ(told, static_cast<uint32_t>(WakeReason::kRoom));
}

TEST_P(WaiterTest, APeerThatWakesWithoutEndGainsNoTime) {
  Waiter waiter(&header_, event_.get(), -1, GetParam());
  const auto wake_again = [&] {
    const uint64_t one = 1;
    return write(event_.get(), &one, sizeof(one)) != sizeof(one);
  };
  EXPECT_EQ(waiter.Await(wake_again, Soon()), Wake::kDeadline);
}

TEST_P(WaiterTest, AReadableDescriptorOfTheDeadlineEndsTheWait) {
  Waiter waiter(&header_, event_.get(), -1, GetParam());
  const UniqueFd interrupt = *MakeEventFd();
  const Deadline deadline =
      Deadline::After(std::chrono::hours(1)).OrReadable(interrupt.get());
  std::thread other([&] {
    const uint64_t one = 1;
    EXPECT_EQ(write(interrupt.get(), &one, sizeof(one)), 8);
  });
  EXPECT_EQ(waiter.Await([] { return false; }, deadline), Wake::kDeadline);
  other.join();
  // What is ready comes first.
  EXPECT_EQ(waiter.Await([] { return true; }, deadline), Wake::kReady);
}

TEST_P(WaiterTest, AClosedSocketIsAPeerThatIsGone) {
  auto [near, far] = *MakeSocketPair();
  Waiter waiter(&header_, event_.get(), near.get(), GetParam());
  far.reset();
  EXPECT_EQ(waiter.Await([] { return false; }, Late()), Wake::kPeerGone);
}

TEST_P(WaiterTest, AMessageOnTheSocketIsNotItsEnd) {
  auto [near, far] = *MakeSocketPair();
  Waiter waiter(&header_, event_.get(), near.get(), GetParam());
  capnp::MallocMessageBuilder message;
  ASSERT_TRUE(SendMessage(far.get(), message, {}, Soon()));
  EXPECT_EQ(waiter.Await([] { return false; }, Soon()), Wake::kDeadline);
  far.reset();
  EXPECT_EQ(waiter.Await([] { return false; }, Late()), Wake::kPeerGone);
}

TEST_P(WaiterTest, AMessageOnTheSocketCanBeWaitedFor) {
  auto [near, far] = *MakeSocketPair();
  Waiter waiter(&header_, event_.get(), near.get(), GetParam());
  std::thread sender([&, to = far.get()] {
    while (header_.sleeping == 0) sched_yield();
    capnp::MallocMessageBuilder message;
    ASSERT_TRUE(SendMessage(to, message, {}, Late()));
  });
  const auto received = [&, from = near.get()] {
    auto attempt = TryReceiveMessage(from, 0);
    return attempt && std::holds_alternative<ReceivedMessage>(*attempt);
  };
  EXPECT_EQ(waiter.Await(received, Late()), Wake::kReady);
  sender.join();
}

TEST_P(WaiterTest, NoWakeIsLostBetweenTwoThreads) {
  RegionHeader other = {};
  const UniqueFd other_event = *MakeEventFd();
  constexpr uint64_t kRounds = 5'000;
  const auto play = [&](RegionHeader* own, int own_event, RegionHeader* peer,
                        int peer_event, bool first) {
    Waiter waiter(own, own_event, -1, GetParam());
    for (uint64_t round = 1; round <= kRounds; ++round) {
      if (first) {
        own->write_cursor.store(round);
        WakePeer(peer, peer_event);
      }
      ASSERT_EQ(waiter.Await([&] { return peer->write_cursor.load() >= round; },
                             Late()),
                Wake::kReady);
      if (!first) {
        own->write_cursor.store(round);
        WakePeer(peer, peer_event);
      }
    }
  };
  std::thread thread(play, &other, other_event.get(), &header_, event_.get(),
                     false);
  play(&header_, event_.get(), &other, other_event.get(), true);
  thread.join();
}

// A host and a worker in two processes, as in a session.
class TwoProcessTest : public testing::Test {
 protected:
  struct Worker {
    RingReader requests;
    RingWriter replies;
    Waiter waiter;
    const RegionHeader* host;
    int host_event;
  };

  // Forks a worker that maps its regions, runs `serve` and kills itself.
  void Start(const std::function<void(Worker&)>& serve) {
    process_.emplace([&] {
      far_.reset();
      auto in = MappedRegion::Map(requests_->fd(), false,
                                  RingGeometry::kRequestRegionBytes);
      auto out = MappedRegion::Map(replies_->fd(), true,
                                   RingGeometry::kReplyRegionBytes);
      if (!in || !out) return 2;
      RegionHeader* own = HeaderOf(out->writable_bytes());
      const RegionHeader* host = HeaderOf(in->bytes());
      Worker worker{
          RingReader(in->bytes(), own, RingGeometry::kRequestRingBytes),
          RingWriter(out->writable_bytes(), host,
                     RingGeometry::kReplyRingBytes),
          Waiter(own, worker_event_.get(), near_.get()), host,
          host_event_.get()};
      serve(worker);
      return raise(SIGKILL);
    });
    near_.reset();
  }

  Expected<void> Request(uint32_t slot) {
    auto written = writer_.TryWrite(8, [&](capnp::MessageBuilder& message) {
      message.initRoot<schema::Request>().initGrant().setSlot(slot);
    });
    WakePeer(worker_header_, worker_event_.get());
    return written;
  }

  Wake AwaitReply(Waiter& waiter, Deadline deadline, uint32_t* slot) {
    return waiter.Await(
        [&] {
          const auto reply = reader_.TryRead();
          EXPECT_TRUE(reply);
          if (!reply || !*reply) return false;
          *slot = (*reply)->root<schema::Reply>().getFrame().getSlot();
          return true;
        },
        deadline);
  }

  Waiter HostWaiter() {
    return Waiter(host_header_, host_event_.get(), process_->pidfd());
  }

  // Answers each request with a frame of the same slot. A request for slot 0
  // ends the worker.
  static void Echo(Worker& worker) {
    for (;;) {
      uint32_t slot = 0;
      const Wake wake = worker.waiter.Await(
          [&] {
            const auto request = worker.requests.TryRead();
            if (!request || !*request) return false;
            slot = (*request)->root<schema::Request>().getGrant().getSlot();
            return true;
          },
          Late());
      if (wake == Wake::kPeerGone) _exit(0);
      if (wake != Wake::kReady || slot == 0) return;
      if (!worker.replies.TryWrite(32, [&](capnp::MessageBuilder& message) {
            message.initRoot<schema::Reply>().initFrame().setSlot(slot);
          })) {
        return;
      }
      WakePeer(worker.host, worker.host_event);
    }
  }

  std::optional<OwnedRegion> requests_ = *OwnedRegion::CreateWritable(
      "requests", RingGeometry::kRequestRegionBytes);
  std::optional<OwnedRegion> replies_ =
      *OwnedRegion::CreateReadable("replies", RingGeometry::kReplyRegionBytes);
  UniqueFd worker_event_ = *MakeEventFd();
  UniqueFd host_event_ = *MakeEventFd();
  std::pair<UniqueFd, UniqueFd> sockets_ = *MakeSocketPair();
  UniqueFd& near_ = sockets_.first;
  UniqueFd& far_ = sockets_.second;
  RegionHeader* host_header_ = HeaderOf(requests_->writable_bytes());
  const RegionHeader* worker_header_ = HeaderOf(replies_->bytes());
  RingWriter writer_{requests_->writable_bytes(), worker_header_,
                     RingGeometry::kRequestRingBytes};
  RingReader reader_{replies_->bytes(), host_header_,
                     RingGeometry::kReplyRingBytes};
  std::optional<ForkedChild> process_;
};

TEST_F(TwoProcessTest, RequestsAreAnswered) {
  Start(Echo);
  Waiter waiter = HostWaiter();
  for (uint32_t slot = 1; slot <= 5'000; ++slot) {
    ASSERT_TRUE(Request(slot));
    uint32_t answered = 0;
    ASSERT_EQ(AwaitReply(waiter, Late(), &answered), Wake::kReady);
    ASSERT_EQ(answered, slot);
  }
}

TEST_F(TwoProcessTest, AWorkerThatDiesWhileTheHostSleepsIsGone) {
  Start([](Worker& worker) {
    while (worker.host->sleeping.load() == 0) sched_yield();
  });
  Waiter waiter = HostWaiter();
  uint32_t slot = 0;
  EXPECT_EQ(AwaitReply(waiter, Late(), &slot), Wake::kPeerGone);
}

TEST_F(TwoProcessTest, WhatAWorkerWroteBeforeItDiedIsStillRead) {
  Start(Echo);
  Waiter waiter = HostWaiter();
  ASSERT_TRUE(Request(1));
  ASSERT_TRUE(Request(0));
  process_->AwaitEnd();
  uint32_t slot = 0;
  EXPECT_EQ(AwaitReply(waiter, Late(), &slot), Wake::kReady);
  EXPECT_EQ(slot, 1u);
  EXPECT_EQ(AwaitReply(waiter, Late(), &slot), Wake::kPeerGone);
}

TEST_F(TwoProcessTest, AStoppedWorkerIsPastTheDeadline) {
  Start(Echo);
  process_->Signal(SIGSTOP);
  Waiter waiter = HostWaiter();
  uint32_t slot = 0;
  EXPECT_EQ(AwaitReply(waiter, Soon(), &slot), Wake::kDeadline);
}

TEST_F(TwoProcessTest, AWorkerSeesItsHostGo) {
  Start(Echo);
  far_.reset();
  const int status = process_->Wait();
  EXPECT_TRUE(WIFEXITED(status)) << status;
}

TEST_F(TwoProcessTest, AFullReplyRingResumesWhenTheHostReads) {
  constexpr uint32_t kReplies = 20'000;
  Start([](Worker& worker) {
    for (uint32_t slot = 1; slot <= kReplies; ++slot) {
      const auto room = [&] { return worker.replies.HasRoom(32); };
      if (worker.waiter.Await(room, Late(), WakeReason::kRoom) !=
          Wake::kReady) {
        return;
      }
      if (!worker.replies.TryWrite(32, [&](capnp::MessageBuilder& message) {
            message.initRoot<schema::Reply>().initFrame().setSlot(slot);
          })) {
        return;
      }
      WakePeer(worker.host, worker.host_event);
    }
  });
  // Waits until the ring is full, before the first reply is read.
  while (worker_header_->sleeping.load() !=
         static_cast<uint32_t>(WakeReason::kRoom)) {
    sched_yield();
  }
  Waiter waiter = HostWaiter();
  for (uint32_t expected = 1; expected <= kReplies; ++expected) {
    uint32_t slot = 0;
    ASSERT_EQ(AwaitReply(waiter, Late(), &slot), Wake::kReady);
    WakePeer(worker_header_, worker_event_.get(), WakeReason::kRoom);
    ASSERT_EQ(slot, expected);
  }
}

}  // namespace
}  // namespace bulkhead::ipc
