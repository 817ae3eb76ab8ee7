// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/file_settling.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>

#include "core/base/testing/temporary_tree.h"
#include "core/supervisor/testing/test_loop.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class FileSettling : public testing::Test {
 protected:
  FileSettling() {
    ::signal(SIGIO, SIG_IGN);
    tree_.Write("object", "half");
    object_ =
        ipc::UniqueFd(::open((tree_ / "object").c_str(), O_RDONLY | O_CLOEXEC));
  }

  ipc::UniqueFd OpenToAppend() const {
    return ipc::UniqueFd(
        ::open((tree_ / "object").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  }
  kj::Promise<Status> Await(milliseconds patience) {
    return AwaitSettled(loop_.port.getTimer(), object_.get(), patience);
  }

  supervisor::TestLoop loop_;
  TemporaryTree tree_;
  ipc::UniqueFd object_;
};

TEST_F(FileSettling, AFileSettlesOnceItStaysAsItIs) {
  const auto begun = steady_clock::now();
  EXPECT_TRUE(Await(milliseconds(60'000)).wait(loop_.scope).ok());
  // bound: the loop's clock is as old as its last look around.
  EXPECT_GE(steady_clock::now() - begun, kSettlingTime - milliseconds(100));
  // By its age, which a second settling time gives it for sure.
  EXPECT_TRUE(Await(milliseconds(60'000)).wait(loop_.scope).ok());
  auto again = Await(milliseconds(0));
  EXPECT_TRUE(again.poll(loop_.scope));
  EXPECT_TRUE(again.wait(loop_.scope).ok());
}

TEST_F(FileSettling, AFileThatGrowsIsNotSettled) {
  int pieces = 0;
  kj::Timer& timer = loop_.port.getTimer();
  // Closed after each piece: only the times tell.
  const std::function<kj::Promise<void>()> grow = [&] {
    return timer.afterDelay(100 * kj::MILLISECONDS)
        .then([&]() -> kj::Promise<void> {
          EXPECT_EQ(::write(OpenToAppend().get(), "more", 4), 4);
          if (++pieces == 12) return kj::READY_NOW;
          return grow();
        });
  };
  auto growing = grow().eagerlyEvaluate(nullptr);
  EXPECT_TRUE(Await(milliseconds(60'000)).wait(loop_.scope).ok());
  EXPECT_EQ(pieces, 12);
}

TEST_F(FileSettling, AFileThatIsOpenForWritingIsNotSettledWhateverItsAge) {
  ASSERT_TRUE(Await(milliseconds(60'000)).wait(loop_.scope).ok());
  ipc::UniqueFd writer = OpenToAppend();
  // bound: the file is open until the wait is over.
  const Status status = Await(milliseconds(1'000)).wait(loop_.scope);
  EXPECT_EQ(status.code(), Code::kBackendUnavailable);
  EXPECT_NE(status.message().find("still being written"), std::string::npos);
  writer.reset();
  EXPECT_TRUE(Await(milliseconds(0)).wait(loop_.scope).ok());
}

}  // namespace
}  // namespace bulkhead::files
