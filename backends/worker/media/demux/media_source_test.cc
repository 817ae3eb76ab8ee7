// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/media_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

extern "C" {
#include <libavformat/avio.h>
}

#include "backends/worker/media/demux/media_bytes.h"

namespace bulkhead::worker::demux {
namespace {

constexpr int kSize = 100'000;

class Bytes final : public ByteServer {
 public:
  explicit Bytes(const std::vector<uint8_t>& file) : file_(file) {}
  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) override {
    const auto size = static_cast<int64_t>(file_.size());
    const int64_t count =
        std::min(std::max<int64_t>(size - offset, 0), std::ssize(out));
    if (count > 0) std::copy_n(file_.begin() + offset, count, out.begin());
    return count;
  }

 private:
  const std::vector<uint8_t>& file_;
};

class HidingSource : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kSize; ++i) file_.push_back(i % 251);
    auto source =
        MediaSource::Create(MediaBytes(bytes_), kSize, [] { return true; });
    ASSERT_TRUE(source);
    source_ = *std::move(source);
  }

  std::vector<uint8_t> Read(int64_t offset, int count) {
    std::vector<uint8_t> read(static_cast<size_t>(count));
    EXPECT_EQ(avio_seek(source_->context(), offset, SEEK_SET), offset);
    EXPECT_EQ(avio_read(source_->context(), read.data(), count), count);
    return read;
  }
  std::vector<uint8_t> InFile(int64_t offset, int count) const {
    return {file_.begin() + offset, file_.begin() + offset + count};
  }

  std::vector<uint8_t> file_;
  Bytes bytes_{file_};
  std::unique_ptr<MediaSource> source_;
};

TEST_F(HidingSource, HiddenBytesReadAsOnesUntilTheyAreShown) {
  source_->Hide({{1000, 1010}, {50'000, 80'000}});
  EXPECT_EQ(Read(990, 10), InFile(990, 10));
  EXPECT_EQ(Read(1000, 10), std::vector<uint8_t>(10, 0xff));
  EXPECT_EQ(Read(1010, 10), InFile(1010, 10));
  EXPECT_EQ(Read(49'999, 2), (std::vector<uint8_t>{file_[49'999], 0xff}));
  EXPECT_EQ(Read(79'999, 2), (std::vector<uint8_t>{0xff, file_[80'000]}));

  // libavformat still has hidden bytes in its buffer, at its position.
  EXPECT_EQ(Read(1000, 1), std::vector<uint8_t>{0xff});
  source_->Unhide();
  std::array<uint8_t, 4> next{};
  EXPECT_EQ(avio_tell(source_->context()), 1001);
  EXPECT_EQ(avio_read(source_->context(), next.data(), 4), 4);
  EXPECT_EQ(std::vector<uint8_t>(next.begin(), next.end()), InFile(1001, 4));
  EXPECT_EQ(Read(1000, 10), InFile(1000, 10));
}

TEST_F(HidingSource, WhatWasReadMeanwhileIsMended) {
  source_->Hide({{1000, 1010}, {1020, 1030}});
  std::vector<uint8_t> packet = Read(995, 40);
  source_->Unhide();
  EXPECT_NE(packet, InFile(995, 40));
  EXPECT_TRUE(source_->Hid({995, 1035}));
  EXPECT_FALSE(source_->Hid({1010, 1020}));
  EXPECT_TRUE(source_->ReadHidden(995, packet));
  EXPECT_EQ(packet, InFile(995, 40));
}

TEST_F(HidingSource, AFileThatWasCutMeanwhileCannotBeMended) {
  source_->Hide({{kSize - 20, kSize - 10}});
  std::vector<uint8_t> packet = Read(kSize - 20, 20);
  source_->Unhide();
  file_.resize(kSize - 15);
  EXPECT_FALSE(source_->ReadHidden(kSize - 20, packet));
  EXPECT_TRUE(source_->shrank());
}

}  // namespace
}  // namespace bulkhead::worker::demux
