// SPDX-License-Identifier: Apache-2.0
//
// Tests how many descriptors of the application the sessions of a Host take,
// and that many sessions fit into the usual limit. With more sessions than a
// test run has time for (one command):
//
//   tools/test --test_env=BULKHEAD_TEST_SESSIONS=900 --test_timeout=900
//     //tests/process:descriptors_test
//
// The soft limit on open files is that number and 124; BULKHEAD_TEST_FILES sets
// another, and 0 leaves the limit as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

size_t Number(const char* variable, size_t otherwise) {
  const char* const value = ::getenv(variable);
  return value ? std::stoul(value) : otherwise;
}

size_t OpenDescriptors(const std::string& process = "self") {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + process + "/fd")) {
    ++count;
  }
  return count;
}

// Returns the memory that belongs to no other process, in KiB.
size_t ResidentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8));
  }
  return 0;
}

// Returns the bytes that the process has allocated and not freed.
size_t AllocatedBytes() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

void SetSoftLimit(rlim_t files) {
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = files;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kOddSize);
    if (clip_.empty()) return;
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.limits.frame_slots = 2;
    options.on_event = [this](const Event& event) {
      texts_.push_back(event.text);
    };
    host_ = Host::Create(options).value();
    // Starts the backend, and what the Host has for all sessions.
    ASSERT_TRUE(Open().Next().value());
  }
  void TearDown() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  VideoDecoder Open() { return host_->OpenVideo(clip_).value(); }

  std::string clip_;
  std::vector<std::string> texts_;  // of events
  std::unique_ptr<Host> host_;
  rlimit before_ = {};
};

TEST_F(Descriptors, ASessionHasThatOfItsMedia) {
  const size_t before = OpenDescriptors();
  VideoDecoder first = Open();
  EXPECT_EQ(OpenDescriptors(), before + 1);
  ASSERT_TRUE(first.Next().value());
  const Frame frame = *first.Next().value();
  const Frame mapped = frame.MapPrivate().value();
  EXPECT_EQ(OpenDescriptors(), before + 1);
  VideoOptions options;
  options.cancellation = Cancellation::Create().value();
  VideoDecoder second = host_->OpenVideo(clip_, options).value();
  ASSERT_TRUE(second.Next().value());
  EXPECT_EQ(OpenDescriptors(), before + 2);
}

TEST_F(Descriptors, ASessionOfAReaderHasNone) {
  const size_t before = OpenDescriptors();
  std::ifstream file(clip_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  file.close();
  SourceReader reader;
  reader.bytes = bytes.size();
  reader.read = [&bytes](uint64_t offset,
                         std::span<std::byte> out) -> Result<size_t> {
    const size_t count = std::min(out.size(), bytes.size() - offset);
    std::memcpy(out.data(), bytes.data() + offset, count);
    return count;
  };
  const auto source = Source::FromReader(std::move(reader));
  VideoDecoder video = host_->OpenVideo(source.value()).value();
  ASSERT_TRUE(video.Next().value());
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(Descriptors, ManySessionsFitIntoTheUsualLimit) {
  const size_t sessions = Number("BULKHEAD_TEST_SESSIONS", 40);
  const size_t files = Number("BULKHEAD_TEST_FILES", sessions + 124);
  const size_t before = OpenDescriptors();
  if (files != 0) SetSoftLimit(files);
  size_t allocated_after_second = 0;
  for (int round = 1; round <= 3; ++round) {
    std::vector<VideoDecoder> open;
    open.reserve(sessions);
    for (size_t i = 0; i < sessions; ++i) open.push_back(Open());
    EXPECT_EQ(OpenDescriptors(), before + sessions);
    for (int turn = 0; turn < 3; ++turn) {
      for (VideoDecoder& video : open) ASSERT_TRUE(video.Next().value());
    }
    EXPECT_EQ(OpenDescriptors(), before + sessions);
    open.clear();
    EXPECT_EQ(OpenDescriptors(), before);
    texts_ = {};  // of two events a session
    std::cout << "round " << round << ": " << sessions << " sessions, "
              << AllocatedBytes() << " bytes allocated afterwards, "
              << ResidentMemory() << " KiB of memory of its own\n";
    if (round == 2) allocated_after_second = AllocatedBytes();
  }
  // Resident memory is no measure: it grows for some rounds, while the heap
  // finds its shape.
  EXPECT_LE(AllocatedBytes(), allocated_after_second + 4096);
}

TEST_F(Descriptors, WhoComesNearTheLimitIsToldWhichOne) {
  const size_t files = OpenDescriptors() + 30;
  SetSoftLimit(files);
  std::vector<VideoDecoder> open;
  open.push_back(Open());
  EXPECT_THAT(texts_, Not(Contains(HasSubstr("ulimit -n"))));
  Result<VideoDecoder> another = host_->OpenVideo(clip_);
  for (; another; another = host_->OpenVideo(clip_)) {
    open.push_back(*std::move(another));
    ASSERT_LT(open.size(), files);
  }
  EXPECT_GT(open.size(), 20u);
  EXPECT_THAT(texts_,
              Contains(AllOf(HasSubstr("of the " + std::to_string(files) +
                                       " open files that it may have"),
                             HasSubstr("ulimit -n"))));
  EXPECT_EQ(another.error().code(), Code::kResourceExhausted);
  EXPECT_THAT(another.error().message(), HasSubstr("ulimit -n"));
}

TEST_F(Descriptors, BulkheaddHasFiveForAStream) {
  // The worker for the next stream has a socket, a log and a pidfd.
  constexpr size_t kSpare = 3;
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  host_ = Host::Create(options).value();
  ASSERT_TRUE(host_->Prewarm("cpu").ok());
  const std::string bulkheadd = std::to_string(host_->supervisor_pid());
  const size_t before = OpenDescriptors(bulkheadd);
  std::vector<VideoDecoder> open;
  for (size_t i = 1; i <= 5; ++i) {
    open.push_back(Open());
    ASSERT_TRUE(open.back().Next().value());
    // It has more while that worker is made.
    const size_t expected = before + kSpare + 5 * i;
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    size_t found = 0;
    do {
      sched_yield();
      found = OpenDescriptors(bulkheadd);
    } while (found != expected && std::chrono::steady_clock::now() < end);
    EXPECT_EQ(found, expected);
  }
}

// bulkheadd's limit is the hard one that the application was started with.
TEST_F(Descriptors, WhoseBulkheaddComesNearItsLimitIsToldSo) {
  const pid_t bulkheadd = host_->supervisor_pid();
  const rlim_t files = OpenDescriptors(std::to_string(bulkheadd)) + 80;
  const rlimit limit = {files, files};
  ASSERT_EQ(::prlimit(bulkheadd, RLIMIT_NOFILE, &limit, nullptr), 0);
  const auto told = Contains(
      AllOf(HasSubstr("bulkheadd has "),
            HasSubstr(" of the " + std::to_string(files) + " open files"),
            HasSubstr("each stream takes 5"), HasSubstr("ulimit -Hn")));
  std::vector<VideoDecoder> open;
  open.push_back(Open());
  EXPECT_THAT(texts_, Not(told));
  Result<VideoDecoder> another = host_->OpenVideo(clip_);
  for (; another; another = host_->OpenVideo(clip_)) {
    open.push_back(*std::move(another));
    ASSERT_LT(open.size(), files);
  }
  EXPECT_GT(open.size(), 10u);
  EXPECT_THAT(texts_, told);
  EXPECT_EQ(another.error().code(), Code::kResourceExhausted);
  EXPECT_THAT(another.error().message(),
              AllOf(HasSubstr("bulkheadd has "),
                    HasSubstr(" of the " + std::to_string(files) +
                              " open files that it may have"),
                    HasSubstr("ulimit -Hn")));
  for (VideoDecoder& video : open) EXPECT_TRUE(video.Next().value());
  open.pop_back();
  EXPECT_TRUE(host_->OpenVideo(clip_));
}

}  // namespace
}  // namespace bulkhead::tests
