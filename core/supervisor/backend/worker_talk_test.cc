// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/worker_talk.h"

#include <capnp/message.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "core/supervisor/testing/test_loop.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/protocol_version.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "ipc/worker_exit.h"

namespace bulkhead::backend {
namespace {

namespace schema = ipc::schema;
using Geometry = ipc::RingGeometry;

constexpr std::chrono::milliseconds kPatience{20'000};

// Puts as many filters on this process as a worker has, and its handlers.
void LockDown() {
  for (const int fault : ipc::kFaults) signal(fault, [](int) { _exit(1); });
  sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program = {.len = 1, .filter = &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (uint32_t i = 0; i < sandbox::kStage2Filters; ++i) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  }
}

ipc::ReceivedMessage Receive(const ipc::UniqueFd& socket) {
  return ipc::ReceiveMessage(socket.get(), ipc::kMaxDescriptors,
                             ipc::Deadline::After(kPatience))
      .value()
      .value();
}

void Send(const ipc::UniqueFd& socket, capnp::MessageBuilder& message,
          std::span<const int> descriptors = {}) {
  EXPECT_TRUE(ipc::SendMessage(socket.get(), message, descriptors,
                               ipc::Deadline::After(kPatience)));
}

// A talk with a worker. The test writes what the worker, its zygote and its
// reaper say; the processes of the worker and the reaper only wait.
class WorkerTalkTest : public testing::Test {
 protected:
  WorkerTalkTest() {
    auto reaper = ipc::MakeSocketPair().value();
    auto zygote = ipc::MakeSocketPair().value();
    auto log = ipc::MakeSocketPair().value();
    reaper_socket_ = std::move(reaper.first);
    zygote_socket_ = std::move(zygote.first);
    log_ = std::move(log.first);
    EXPECT_EQ(::fcntl(log.second.get(), F_SETFL, O_NONBLOCK), 0);
    auto incarnation = std::make_shared<Incarnation>(
        loop_.port,
        sandbox::LaunchedReaper{.pidfd = ipc::UniqueFd(::dup(reaper_.pidfd())),
                                .pid = reaper_.pid(),
                                .control = std::move(reaper.second),
                                .zygote_control = std::move(zygote.second),
                                .log = std::move(log.second),
                                .cgroup = nullptr},
        sandbox::Forbidden::kKill,
        sandbox::ExpectedCalls({}, /*reads_memory=*/false, held_parts_),
        sandbox::LoadedMemory(), ending_, met_media_);
    talk_.emplace(loop_.port, std::move(incarnation));
  }
  // kj's destructors may throw, and a test fixture's may not.
  ~WorkerTalkTest() noexcept override {}

  // Begins with a worker whose hello is of that version of the protocol.
  Status Begin(uint32_t version = ipc::kProtocolVersion) {
    auto others = std::async(std::launch::async, [this, version] {
      const ipc::UniqueFd worker = AnswerUntilGreeted(version);
      if (version == ipc::kProtocolVersion) Attach(Receive(worker));
    });
    const Status begun =
        talk_
            ->Begin(Incarnation::WorkerKind::kSession,
                    ipc::UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
                    {}, kPatience)
            .wait(loop_.scope);
    others.get();
    return begun;
  }

  void Reply() {
    ASSERT_TRUE(replies_->TryWrite(64, [](capnp::MessageBuilder& message) {
      message.initRoot<schema::Reply>().setPaused(0);
    }));
  }

  // Counts replies in taken_, up to `count`.
  kj::Promise<void> Take(int count) {
    if (taken_ == count) return kj::READY_NOW;
    return talk_->AwaitReply([](auto) { return Status(); })
        .then([this, count](const Status& status) {
          EXPECT_TRUE(status.ok()) << status.message();
          ++taken_;
          return Take(count);
        });
  }

  supervisor::TestLoop loop_;
  EndingReapers ending_{loop_.port};
  bool met_media_ = false;
  sandbox::HeldParts held_parts_;
  int taken_ = 0;

 private:
  // Returns the worker's end of its socket.
  ipc::UniqueFd AnswerUntilGreeted(uint32_t version) {
    auto clone = Receive(zygote_socket_);
    ipc::UniqueFd worker = std::move(clone.descriptors.at(0));
    capnp::MallocMessageBuilder cloned;
    auto answer = cloned.initRoot<schema::ZygoteEvent>().initCloned();
    answer.setTicket(
        clone.root<schema::ZygoteRequest>().value().getClone().getTicket());
    answer.setPid(worker_.pid());
    Send(zygote_socket_, cloned);

    Receive(reaper_socket_);
    capnp::MallocMessageBuilder watched;
    watched.initRoot<schema::ReaperEvent>().setWatched(worker_.pid());
    const int pidfd = worker_.pidfd();
    Send(reaper_socket_, watched, std::span(&pidfd, 1));

    capnp::MallocMessageBuilder hello;
    hello.initRoot<schema::Hello>().setProtocolVersion(version);
    Send(worker, hello);
    return worker;
  }

  void Attach(const ipc::ReceivedMessage& attach) {
    requests_memory_.emplace(
        ipc::MappedRegion::Map(attach.descriptors.at(0).get(), false,
                               Geometry::kRequestRegionBytes)
            .value());
    replies_memory_.emplace(
        ipc::MappedRegion::Map(attach.descriptors.at(1).get(), true,
                               Geometry::kReplyRegionBytes)
            .value());
    replies_.emplace(replies_memory_->writable_bytes(),
                     ipc::HeaderOf(requests_memory_->bytes()),
                     Geometry::kReplyRingBytes);
  }

  ipc::UniqueFd reaper_socket_;
  ipc::UniqueFd zygote_socket_;
  ipc::UniqueFd log_;
  const ipc::ForkedChild reaper_ = ipc::ForkedChild::Sleeping();
  const ipc::ForkedChild worker_ = ipc::ForkedChild::Prepared(LockDown);
  std::optional<ipc::MappedRegion> requests_memory_;
  std::optional<ipc::MappedRegion> replies_memory_;
  std::optional<ipc::RingWriter> replies_;
  std::optional<WorkerTalk> talk_;
};

TEST_F(WorkerTalkTest, WorkerWhoseNextReplyIsAlwaysThereStallsNobody) {
  constexpr int kFlood = 1'000;
  const Status begun = Begin();
  ASSERT_TRUE(begun.ok()) << begun.message();
  for (int i = 0; i < kFlood; ++i) ASSERT_NO_FATAL_FAILURE(Reply());

  // `served` stands for somebody else on the loop, whose descriptor is readable
  // and whose time is over.
  const ipc::UniqueFd readable(::eventfd(1, EFD_CLOEXEC));
  kj::UnixEventPort::FdObserver observer(
      loop_.port, readable.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ);
  int taken_by_then = 0;
  auto served = observer.whenBecomesReadable()
                    .then([this] {
                      return loop_.port.getTimer().afterDelay(0 * kj::SECONDS);
                    })
                    .then([&] { taken_by_then = taken_; })
                    .eagerlyEvaluate(nullptr);
  Take(kFlood).wait(loop_.scope);
  served.wait(loop_.scope);
  EXPECT_LT(taken_by_then, kFlood);
}

TEST_F(WorkerTalkTest, WorkerOfAnotherVersionGetsNoMedia) {
  const Status begun = Begin(ipc::kProtocolVersion + 1);
  EXPECT_EQ(begun.code(), Code::kBackendMisbehaved);
  EXPECT_NE(begun.message().find("its hello is not of this protocol version"),
            std::string::npos)
      << begun.message();
}

}  // namespace
}  // namespace bulkhead::backend
