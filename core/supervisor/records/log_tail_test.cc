// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/log_tail.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

namespace bulkhead::records {
namespace {

class LogTailTest : public testing::Test {
 public:
  ~LogTailTest() noexcept override {}  // kj's destructors may throw

 protected:
  LogTailTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    writer_ = ipc::UniqueFd(ends[1]);
    tail_.emplace(port_, ipc::UniqueFd(ends[0]));
  }
  void Write(const std::string& text) {
    ASSERT_EQ(::write(writer_.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  kj::UnixEventPort port_;
  kj::EventLoop loop_{port_};
  kj::WaitScope scope_{loop_};
  ipc::UniqueFd writer_;
  std::optional<LogTail> tail_;
};

TEST_F(LogTailTest, WhatWasWrittenIsCleanedAndKeepsItsLines) {
  Write("one\ntwo\033[31m\n");
  EXPECT_TRUE(tail_->Read());
  EXPECT_FALSE(tail_->Read());
  EXPECT_TRUE(tail_->text().starts_with("one\ntwo"));
  EXPECT_EQ(tail_->text().find('\033'), std::string::npos);
  EXPECT_TRUE(tail_->text().ends_with('\n'));
}

TEST_F(LogTailTest, OnlyTheLastLinesAreKept) {
  Write(std::string(4'000, 'a') + "\nthe end");
  EXPECT_TRUE(tail_->Read());
  EXPECT_EQ(tail_->text().size(), 2'048u);
  EXPECT_TRUE(tail_->text().ends_with("a\nthe end"));
}

TEST_F(LogTailTest, WhatIsWrittenOnceThereIsMediaIsKeptApart) {
  Write("loaded\n");
  EXPECT_TRUE(tail_->Read());
  Write("ready\n");
  EXPECT_FALSE(tail_->expects_media());
  tail_->ExpectMedia();
  EXPECT_TRUE(tail_->expects_media());
  Write("a stream\n");
  // No second call makes later text harmless.
  tail_->ExpectMedia();
  EXPECT_TRUE(tail_->Read());
  EXPECT_EQ(tail_->text(), "loaded\nready\n");
  EXPECT_EQ(tail_->media_text(), "a stream\n");
}

// Who writes faster than bulkheadd reads leaves no more than a full log.
TEST_F(LogTailTest, WhoWritesAllTheTimeKeepsNobodyReading) {
  constexpr int kMoreThanAFullSocket = 256 << 10;
  ASSERT_EQ(::fcntl(writer_.get(), F_SETPIPE_SZ, kMoreThanAFullSocket),
            kMoreThanAFullSocket);
  Write(std::string(kMoreThanAFullSocket, 'a'));
  tail_->ExpectMedia();
  ASSERT_TRUE(tail_->Read()) << "nothing was left to be read later";
  EXPECT_EQ(tail_->media_text(), std::string(2'048, 'a'));
}

TEST_F(LogTailTest, BothTextsHaveTheirBound) {
  Write(std::string(4'000, 'a'));
  tail_->ExpectMedia();
  Write(std::string(4'000, 'b'));
  EXPECT_TRUE(tail_->Read());
  EXPECT_EQ(tail_->text(), std::string(2'048, 'a'));
  EXPECT_EQ(tail_->media_text(), std::string(2'048, 'b'));
}

TEST_F(LogTailTest, DrainingEndsWithTheLastWriter) {
  auto drained = tail_->Drain();
  Write("last words");
  EXPECT_FALSE(drained.poll(scope_));
  writer_ = ipc::UniqueFd();
  drained.wait(scope_);
  EXPECT_EQ(tail_->text(), "last words");
}

}  // namespace
}  // namespace bulkhead::records
