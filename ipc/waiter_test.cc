// SPDX-License-Identifier: Apache-2.0
#include "ipc/waiter.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "ipc/deadline.h"
#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/robust_word.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::ipc {
namespace {

using Scope = WatchedWord::Scope;

// bound: nobody does what is waited for.
Deadline Soon() { return Deadline::After(std::chrono::milliseconds(20)); }
Deadline Late() { return Deadline::After(std::chrono::seconds(20)); }
bool Never() { return false; }

// Wakes a thread that sleeps on the word, as soon as there is one.
void WakeOnceAsleep(const std::atomic<uint32_t>* word) {
  while (::syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0) < 1) {
    sched_yield();
  }
}

TEST(WakePeerTest, CountsOnlyForASleeperAndItsReason) {
  RegionHeader own = {};
  RegionHeader peer = {};
  WakePeer(&own, &peer);
  EXPECT_EQ(own.wakes, 0u);
  peer.sleeping = static_cast<uint32_t>(WakeReason::kRoom);
  WakePeer(&own, &peer, WakeReason::kRecord);
  EXPECT_EQ(own.wakes, 0u);
  WakePeer(&own, &peer, WakeReason::kRoom);
  EXPECT_EQ(own.wakes, 1u);
}

TEST(WaiterKernelTest, ThisKernelSleepsOnManyWords) {
  EXPECT_TRUE(Waiter::KernelSleepsOnMany());
}

// The parameters say whether the waiter spins before it sleeps, and whether it
// sleeps on several words, as on a kernel that has futex_waitv.
class WaiterTest : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  Waiter Make(std::initializer_list<WatchedWord> words = {}) {
    return Waiter(&own_, &peer_, words, std::get<0>(GetParam()),
                  std::get<1>(GetParam()));
  }

  RegionHeader own_ = {};
  RegionHeader peer_ = {};
};

INSTANTIATE_TEST_SUITE_P(SpinAndMany, WaiterTest,
                         testing::Combine(testing::Bool(), testing::Bool()));

TEST_P(WaiterTest, WhatIsReadyIsNotWaitedFor) {
  Waiter waiter = Make();
  int calls = 0;
  const auto ready = [&] { return ++calls > 0; };
  EXPECT_EQ(waiter.Await(ready, Soon()), Wake::kReady);
  EXPECT_EQ(calls, 1);
}

TEST_P(WaiterTest, ADeadlineEndsTheWaitAndTheSleepIsOver) {
  std::atomic<uint32_t> word = 0;
  for (Waiter waiter : {Make(), Make({{.word = &word}})}) {
    EXPECT_EQ(waiter.Await(Never, Soon()), Wake::kDeadline);
    EXPECT_EQ(own_.sleeping, 0u);
  }
}

TEST_P(WaiterTest, TheSleepingWordTellsTheReason) {
  Waiter waiter = Make();
  uint32_t told = 0;
  waiter.Await(
      [&] {
        told |= own_.sleeping;
        return false;
      },
      Soon(), WakeReason::kRoom);
  EXPECT_EQ(told, static_cast<uint32_t>(WakeReason::kRoom));
}

TEST_P(WaiterTest, APeerThatWakesWithoutEndGainsNoTime) {
  Waiter waiter = Make();
  const auto wake_again = [&] {
    peer_.wakes.fetch_add(1);
    return false;
  };
  EXPECT_EQ(waiter.Await(wake_again, Soon()), Wake::kDeadline);
}

TEST_P(WaiterTest, AWordEndsTheWaitWithWhatItMeans) {
  std::atomic<uint32_t> word = 7;
  const WatchedWord watched = {.word = &word,
                               .mask = 0xff,
                               .value = 8,
                               .means = Wake::kInterrupted,
                               .scope = Scope::kProcess};
  Waiter waiter = Make({watched});
  std::thread other([&] {
    while (own_.sleeping == 0) sched_yield();
    word = 0x108;
    WakeSleepers(&word, Scope::kProcess);
  });
  EXPECT_EQ(waiter.Await(Never, Late()), Wake::kInterrupted);
  other.join();
  // What is ready comes first.
  EXPECT_EQ(waiter.Await([] { return true; }, Late()), Wake::kReady);
  EXPECT_EQ(waiter.Await(Never, Late()), Wake::kInterrupted);
}

TEST_P(WaiterTest, AWordOfThePeerComesWithItsWake) {
  Waiter waiter = Make({{.word = &peer_.closed, .scope = Scope::kWithPeer}});
  std::thread other([&] {
    while (own_.sleeping == 0) sched_yield();
    peer_.closed = 1;
    WakePeer(&peer_, &own_);
  });
  EXPECT_EQ(waiter.Await(Never, Late()), Wake::kPeerGone);
  other.join();
}

// Only one thread is woken by the kernel.
TEST_P(WaiterTest, AllWhoSleepOnAnOwnerLearnOfItsEnd) {
  std::atomic<uint32_t> owner = 0;
  std::atomic<bool> end = false;
  std::thread owning([&] {
    ASSERT_TRUE(RobustWord::Own(&owner));
    while (!end) sched_yield();
  });
  constexpr int kSleepers = 4;
  std::vector<RegionHeader> headers(kSleepers);
  std::vector<std::thread> sleepers;
  for (int i = 0; i < kSleepers; ++i) {
    sleepers.emplace_back([&, i] {
      Waiter waiter(&headers[i], &peer_, {WatchedWord::Robust(&owner)},
                    std::get<0>(GetParam()), std::get<1>(GetParam()));
      const Deadline late = Late();
      EXPECT_EQ(waiter.Await(Never, late), Wake::kPeerGone);
      EXPECT_FALSE(late.passed());
    });
  }
  for (const RegionHeader& header : headers) {
    while (header.sleeping == 0) sched_yield();
  }
  end = true;
  owning.join();
  for (std::thread& sleeper : sleepers) sleeper.join();
}

TEST_P(WaiterTest, NoWakeIsLostBetweenTwoThreads) {
  std::atomic<uint32_t> word = 0;
  constexpr uint64_t kRounds = 5'000;
  const auto play = [&](RegionHeader* own, RegionHeader* peer, bool first) {
    Waiter waiter(own, peer, {{.word = &word}}, std::get<0>(GetParam()),
                  std::get<1>(GetParam()));
    for (uint64_t round = 1; round <= kRounds; ++round) {
      if (first) {
        own->write_cursor.store(round);
        WakePeer(own, peer);
      }
      ASSERT_EQ(waiter.Await([&] { return peer->write_cursor.load() >= round; },
                             Late()),
                Wake::kReady);
      if (!first) {
        own->write_cursor.store(round);
        WakePeer(own, peer);
      }
    }
  };
  std::thread thread(play, &peer_, &own_, false);
  play(&own_, &peer_, true);
  thread.join();
}

TEST_P(WaiterTest, NoWordIsMissedWhenItChangesBeforeTheSleep) {
  // A waiter that cannot sleep on the word may look at it after kSlice only.
  const uint32_t rounds = std::get<1>(GetParam()) ? 2'000 : 10;
  std::atomic<uint32_t> word = 0;
  std::atomic<uint32_t> waiting = 0;
  std::thread other([&] {
    for (uint32_t round = 1; round <= rounds; ++round) {
      while (waiting.load() != round) sched_yield();
      word.store(round);
      WakeSleepers(&word, Scope::kProcess);
    }
  });
  for (uint32_t round = 1; round <= rounds; ++round) {
    Waiter waiter =
        Make({{.word = &word, .value = round, .scope = Scope::kProcess}});
    waiting.store(round);
    ASSERT_EQ(waiter.Await(Never, Late()), Wake::kPeerGone);
  }
  other.join();
}

// A host and a worker in two processes, as in a session.
class TwoProcessTest : public testing::Test {
 protected:
  struct Worker {
    RingReader requests;
    RingWriter replies;
    Waiter waiter;
    RegionHeader* own;
    const RegionHeader* host;
  };

  // Forks a worker that maps its regions, runs `serve` and kills itself.
  void Start(const std::function<void(Worker&)>& serve) {
    process_.emplace([&] {
      auto in = MappedRegion::Map(requests_->fd(), false,
                                  RingGeometry::kRequestRegionBytes);
      auto out = MappedRegion::Map(replies_->fd(), true,
                                   RingGeometry::kReplyRegionBytes);
      if (!in || !out) return 2;
      RegionHeader* own = HeaderOf(out->writable_bytes());
      const RegionHeader* host = HeaderOf(in->bytes());
      if (!RobustWord::Own(&own->decoded)) return 3;
      Worker worker{
          RingReader(in->bytes(), own, RingGeometry::kRequestRingBytes),
          RingWriter(out->writable_bytes(), host,
                     RingGeometry::kReplyRingBytes),
          Waiter(own, host,
                 {{.word = &host->closed, .scope = Scope::kWithPeer}}),
          own, host};
      serve(worker);
      return raise(SIGKILL);
    });
    requests_->CloseDescriptor();
    replies_->CloseDescriptor();
  }

  Expected<void> Request(uint32_t slot) {
    auto written = writer_.TryWrite(8, [&](capnp::MessageBuilder& message) {
      message.initRoot<schema::Request>().initGrant().setSlot(slot);
    });
    WakePeer(host_header_, worker_header_);
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
    return Waiter(host_header_, worker_header_,
                  {WatchedWord::Robust(&worker_header_->decoded)});
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
      WakePeer(worker.own, worker.host);
    }
  }

  std::optional<OwnedRegion> requests_ = *OwnedRegion::CreateWritable(
      "requests", RingGeometry::kRequestRegionBytes);
  std::optional<OwnedRegion> replies_ =
      *OwnedRegion::CreateReadable("replies", RingGeometry::kReplyRegionBytes);
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

TEST_F(TwoProcessTest, AWorkerThatIsKilledWhileTheHostSleepsIsGone) {
  Start(Echo);
  std::thread killer([&] {
    // A worker that does not own the word yet leaves nothing that shows its
    // end.
    while (host_header_->sleeping == 0 || worker_header_->decoded == 0) {
      sched_yield();
    }
    process_->Signal(SIGKILL);
  });
  Waiter waiter = HostWaiter();
  uint32_t slot = 0;
  EXPECT_EQ(AwaitReply(waiter, Late(), &slot), Wake::kPeerGone);
  killer.join();
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

TEST_F(TwoProcessTest, AWorkerSeesItsHostClose) {
  Start(Echo);
  host_header_->closed = 1;
  WakePeer(host_header_, worker_header_);
  const int status = process_->Wait();
  EXPECT_TRUE(WIFEXITED(status)) << status;
}

// Nothing else wakes the host, and a fake end looks like a real one: whoever
// waits has to ask somebody else.
TEST_F(TwoProcessTest, AWorkerCanClaimItsEnd) {
  Start([](Worker& worker) {
    while (worker.host->sleeping.load() == 0) sched_yield();
    worker.own->decoded.store(RobustWord::kOwnerDied);
    WakeOnceAsleep(&worker.own->decoded);
    Echo(worker);
  });
  Waiter waiter = HostWaiter();
  uint32_t slot = 0;
  EXPECT_EQ(AwaitReply(waiter, Late(), &slot), Wake::kPeerGone);
  EXPECT_TRUE(process_->IsAlive());
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
      WakePeer(worker.own, worker.host);
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
    WakePeer(host_header_, worker_header_, WakeReason::kRoom);
    ASSERT_EQ(slot, expected);
  }
}

}  // namespace
}  // namespace bulkhead::ipc
