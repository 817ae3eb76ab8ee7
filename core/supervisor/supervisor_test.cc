// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/supervisor.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <span>
#include <vector>

#include "core/control/control_exchange.h"
#include "core/control/session_counters.h"
#include "core/control/session_ends.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/protocol_version.h"
#include "ipc/shared_region.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {
namespace {

using Request = ipc::schema::HostRequest;

constexpr size_t kCounterBytes = kMaxCountedSessions * sizeof(SessionCounter);

// A Supervisor in a process of its own, with this process as its application.
class SupervisorTest : public testing::Test {
 protected:
  void SetUp() override {
    const ipc::UniqueFd self(
        static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    const int descriptors[] = {self.get()};
    const Status configured = Ask(
        [](Request::Builder request) {
          request.initConfigure().setProtocolVersion(ipc::kProtocolVersion);
        },
        descriptors);
    ASSERT_TRUE(configured.ok()) << configured;
  }

  Status Ask(const FillRequest& fill, std::span<const int> descriptors) {
    return Exchange(sockets_.first.get(), fill, descriptors,
                    ipc::Deadline::After(std::chrono::seconds(20)),
                    TakeConfigured);
  }

  Status ShareCounters(const std::vector<size_t>& sizes) {
    std::vector<ipc::OwnedRegion> regions;
    std::vector<int> descriptors;
    for (const size_t bytes : sizes) {
      regions.push_back(
          ipc::OwnedRegion::CreateReadable("counters", bytes).value());
      descriptors.push_back(regions.back().fd());
    }
    return Ask([](Request::Builder request) { request.setCountSessions(); },
               descriptors);
  }

 private:
  int Run() {
    sockets_.first.reset();
    kj::UnixEventPort port;
    kj::EventLoop loop(port);
    kj::WaitScope scope(loop);
    Supervisor(port, std::move(sockets_.second), ::getppid()).Run().wait(scope);
    return 0;
  }

  std::pair<ipc::UniqueFd, ipc::UniqueFd> sockets_ =
      ipc::MakeSocketPair().value();
  ipc::ForkedChild child_{[this] { return Run(); }};
};

TEST_F(SupervisorTest, SharesCountersOfTheRightSizeAlone) {
  EXPECT_EQ(ShareCounters({}).code(), Code::kInternal);
  EXPECT_EQ(ShareCounters({kCounterBytes}).code(), Code::kInternal);
  EXPECT_EQ(ShareCounters({kCounterBytes - 1, sizeof(SessionEnds)}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(ShareCounters({kCounterBytes, sizeof(SessionEnds) - 1}).code(),
            Code::kInvalidArgument);
  const Status shared = ShareCounters({kCounterBytes, sizeof(SessionEnds)});
  EXPECT_TRUE(shared.ok()) << shared;
}

}  // namespace
}  // namespace bulkhead::supervisor
