// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sockets/event_socket.h"

#include <capnp/message.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "ipc/schema/control.capnp.h"

namespace bulkhead::sockets {
namespace {

namespace schema = ipc::schema;

constexpr std::chrono::milliseconds kPatience{60'000};

// Returns the system call in which a thread of this process waits, as /proc
// shows it; "running" if it waits in none.
std::string CallOf(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  std::string call;
  std::getline(file, call);
  return call;
}

class EventSocketTest : public ::testing::Test {
 protected:
  EventSocketTest() : EventSocketTest(ipc::MakeSocketPair().value()) {}
  // kj's destructors may throw, which gtest's may not.
  ~EventSocketTest() noexcept override {}

  void SendFromPeer(uint64_t session) {
    capnp::MallocMessageBuilder message;
    message.initRoot<schema::HostRequest>().setCloseSession(session);
    ASSERT_TRUE(ipc::SendMessage(peer_.get(), message, {},
                                 ipc::Deadline::After(kPatience)));
  }
  auto Receive(size_t max_descriptors = 0) {
    return socket_.Receive(max_descriptors);
  }
  // Lets the event loop look at its descriptors; true once `promise` is done.
  template <typename T>
  bool Poll(kj::Promise<T>& promise) {
    return promise.poll(scope_);
  }

  explicit EventSocketTest(std::pair<ipc::UniqueFd, ipc::UniqueFd> sockets)
      : loop_(port_),
        scope_(loop_),
        peer_(std::move(sockets.first)),
        socket_(port_, std::move(sockets.second)) {}

  kj::UnixEventPort port_;
  kj::EventLoop loop_;
  kj::WaitScope scope_;
  ipc::UniqueFd peer_;
  EventSocket socket_;
};

TEST_F(EventSocketTest, ReceivesWhatIsThereAndWhatComesLater) {
  SendFromPeer(1);
  auto first = Receive().wait(scope_);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->root<schema::HostRequest>()->getCloseSession(), 1u);

  auto later = Receive();
  EXPECT_FALSE(Poll(later));
  SendFromPeer(2);
  auto second = later.wait(scope_);
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->root<schema::HostRequest>()->getCloseSession(), 2u);
}

TEST_F(EventSocketTest, APeerThatClosesIsSeenAfterItsLastMessage) {
  SendFromPeer(1);
  peer_.reset();
  auto message = Receive().wait(scope_);
  ASSERT_TRUE(message && *message);
  auto end = Receive().wait(scope_);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST_F(EventSocketTest, APeerThatClosesWakesAReceiver) {
  auto waiting = Receive();
  EXPECT_FALSE(Poll(waiting));
  peer_.reset();
  auto end = waiting.wait(scope_);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST_F(EventSocketTest, APacketThatBreaksTheFramingIsAnError) {
  const uint32_t lies[][4] = {
      {0, 1000, 0, 0},  // longer than the packet
      {7, 1, 0, 0},     // eight segments
      {0, 0, 0, 0},     // words after the end
  };
  for (const auto& lie : lies) {
    ASSERT_EQ(::send(peer_.get(), lie, sizeof(lie), 0), ssize_t{sizeof(lie)});
    auto received = Receive().wait(scope_);
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, ipc::Code::kBackendMisbehaved);
  }
  ASSERT_EQ(::send(peer_.get(), "abc", 3, 0), 3);
  EXPECT_FALSE(Receive().wait(scope_));
}

TEST_F(EventSocketTest, MoreDescriptorsThanWereAskedForAreAnError) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::HostRequest>().setConnect();
  const int descriptors[] = {STDERR_FILENO};
  ASSERT_TRUE(ipc::SendMessage(peer_.get(), message, descriptors,
                               ipc::Deadline::After(kPatience)));
  auto received = Receive(0).wait(scope_);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ipc::Code::kBackendMisbehaved);
}

// A peer that reads only once bulkheadd waits for it must find that it does
// not.
TEST_F(EventSocketTest, APeerThatDoesNotReadGetsAnErrorInsteadOfPatience) {
  std::atomic<bool> done = false;
  std::thread peer([&, sender = ::gettid()] {
    const std::string waiting = std::to_string(SYS_poll) + " ";
    const std::string waiting_too = std::to_string(SYS_ppoll) + " ";
    while (!done) {
      const std::string call = CallOf(sender);
      if (!call.starts_with(waiting) && !call.starts_with(waiting_too))
        continue;
      static_cast<void>(ipc::TryReceiveMessage(peer_.get(), 0));
    }
  });
  capnp::MallocMessageBuilder message;
  auto failure = message.initRoot<schema::HostReply>().initFailed();
  failure.setMessage(std::string(32'000, 'x'));
  ipc::Expected<void> sent;
  int count = 0;
  for (; sent && count < 10'000; ++count) sent = socket_.Send(message);
  done = true;
  peer.join();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ipc::Code::kDeadlineExceeded);
  EXPECT_GT(count, 1);
}

TEST_F(EventSocketTest, SendingToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  peer_.reset();
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::HostReply>().setConfigured();
  const auto sent = socket_.Send(message);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ipc::Code::kBackendLost);
}

TEST_F(EventSocketTest, AReceiverThatIsDroppedLosesNoMessage) {
  {
    auto dropped = Receive();
    EXPECT_FALSE(Poll(dropped));
  }
  SendFromPeer(3);
  auto received = Receive().wait(scope_);
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->root<schema::HostRequest>()->getCloseSession(), 3u);
}

// Messages without end must leave the loop time for everybody else.
TEST_F(EventSocketTest, AFloodLeavesTimeForOthers) {
  auto mine = ipc::MakeSocketPair().value();
  EventSocket other(port_, std::move(mine.first));
  auto waiting = other.Receive(0);
  EXPECT_FALSE(Poll(waiting));
  mine.second.reset();
  bool seen = false;
  auto other_done =
      waiting.then([&](auto) { seen = true; }).eagerlyEvaluate(nullptr);
  int messages = 0;
  std::function<kj::Promise<void>()> serve = [&]() -> kj::Promise<void> {
    SendFromPeer(1);
    return Receive().then([&](auto) -> kj::Promise<void> {
      if (seen || ++messages == 10'000) return kj::READY_NOW;
      return serve();
    });
  };
  serve().wait(scope_);
  EXPECT_TRUE(seen) << "after " << messages << " messages";
}

}  // namespace
}  // namespace bulkhead::sockets
