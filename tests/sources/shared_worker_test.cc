// SPDX-License-Identifier: Apache-2.0
// Tests sources other than paths with one worker for all sessions of a backend
// (worker_scope = "backend"). Each session reads its own bytes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/distribution_options.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

constexpr const char* kDevice = "shared_scope";

struct Served {
  std::string bytes;
  std::vector<std::string> reference;
  bool fails = false;

  Source source(const std::string& name) {
    SourceReader reader;
    reader.bytes = bytes.size();
    reader.read = [this](uint64_t offset,
                         std::span<std::byte> out) -> Result<size_t> {
      if (fails) return Status(Code::kInternal, "no route to it");
      const size_t count =
          std::min({out.size(), size_t{5000},
                    bytes.size() - static_cast<size_t>(offset)});
      std::memcpy(out.data(), bytes.data() + offset, count);
      return count;
    };
    return Source::FromReader(std::move(reader), name).value();
  }
};

class SharedWorker : public testing::Test {
 protected:
  void SetUp() override {
    if (ClipOrSkip(Clip::kH264).empty()) return;
    first_ = Serve(Clip::kH264);
    second_ = Serve(Clip::kMpeg2);
    host_ = Host::Create(DistributionOptions()).value();
  }

  static Served Serve(Clip clip) {
    Served served;
    const std::string path = Generate(clip).value();
    std::ifstream file(path, std::ios::binary);
    served.bytes.assign(std::istreambuf_iterator<char>(file), {});
    served.reference = HashesByFfmpeg(path).value();
    return served;
  }

  VideoDecoder Open(const Source& source) {
    return host_->OpenVideo(source, {.device = kDevice}).value();
  }

  static void Take(VideoDecoder& video, size_t count,
                   std::vector<std::string>& hashes) {
    for (size_t i = 0; i < count; ++i) {
      auto frame = video.Next();
      ASSERT_TRUE(frame) << frame.error();
      if (!*frame) return;
      hashes.push_back(HashOf(**frame));
    }
  }

  Served first_;
  Served second_;
  std::unique_ptr<Host> host_;
};

TEST_F(SharedWorker, EachSessionReadsFromItsOwnReader) {
  VideoDecoder first = Open(first_.source("first.mp4"));
  VideoDecoder second = Open(second_.source("second.ts"));
  ASSERT_EQ(first.worker_pid(), second.worker_pid());
  std::vector<std::string> of_first, of_second;
  for (int turn = 0; turn < 20; ++turn) {
    Take(first, 7, of_first);
    Take(second, 3, of_second);
  }
  EXPECT_EQ(of_first, first_.reference);
  EXPECT_EQ(of_second, second_.reference);
  for (const int64_t index : {40, 0, -1, 17}) {
    const auto wanted = static_cast<size_t>(index < 0 ? 47 : index);
    EXPECT_EQ(HashOf(first.FrameAt(static_cast<int64_t>(wanted)).value()),
              first_.reference[wanted]);
    EXPECT_EQ(HashOf(second.FrameAt(index).value()), second_.reference[wanted]);
  }
  EXPECT_EQ(first.recovery().restarts + second.recovery().restarts, 0u);
}

TEST_F(SharedWorker, AReadersFailureIsItsOwnSessionsAlone) {
  VideoDecoder first = Open(first_.source("first.mp4"));
  VideoDecoder second = Open(second_.source("second.ts"));
  second_.fails = true;
  const auto refused =
      host_->OpenVideo(second_.source("third.ts"), {.device = kDevice});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument) << refused.error();
  std::vector<std::string> of_first;
  Take(first, 1000, of_first);
  EXPECT_EQ(of_first, first_.reference);
  second_.fails = false;
  std::vector<std::string> of_second;
  Take(second, 1000, of_second);
  EXPECT_EQ(of_second, second_.reference);
  EXPECT_EQ(first.recovery().restarts + second.recovery().restarts, 0u);
}

TEST_F(SharedWorker, EachReaderGoesOnWithTheNextWorker) {
  VideoDecoder first = Open(first_.source("first.mp4"));
  VideoDecoder second = Open(second_.source("second.ts"));
  std::vector<std::string> of_first, of_second;
  Take(first, 50, of_first);
  Take(second, 20, of_second);
  const ProcessWatch worker(first.worker_pid());
  ASSERT_TRUE(worker.Signal(SIGKILL));
  ASSERT_TRUE(worker.AwaitEnd());
  Take(second, 1000, of_second);
  Take(first, 1000, of_first);
  EXPECT_EQ(of_first, first_.reference);
  EXPECT_EQ(of_second, second_.reference);
  EXPECT_EQ(first.recovery().restarts, 1u);
  EXPECT_EQ(second.recovery().restarts, 1u);
}

TEST_F(SharedWorker, ASessionWithoutAThreadIsRefusedAndTheOthersGoOn) {
  VideoDecoder first = Open(first_.source("first.mp4"));
  std::vector<std::string> of_first;
  Take(first, 10, of_first);
  rlimit limit;
  ASSERT_EQ(::prlimit(first.worker_pid(), RLIMIT_NPROC, nullptr, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  ASSERT_EQ(::prlimit(first.worker_pid(), RLIMIT_NPROC, &none, nullptr), 0);
  const auto refused =
      host_->OpenVideo(second_.source("second.ts"), {.device = kDevice});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted)
      << refused.error();
  EXPECT_NE(refused.error().message().find("no thread can be started"),
            std::string::npos)
      << refused.error();
  EXPECT_NE(refused.error().message().find("(ulimit -u)"), std::string::npos)
      << refused.error();
  ASSERT_EQ(::prlimit(first.worker_pid(), RLIMIT_NPROC, &limit, nullptr), 0);
  VideoDecoder third = Open(second_.source("third.ts"));
  EXPECT_EQ(third.worker_pid(), first.worker_pid());
  std::vector<std::string> of_third;
  Take(third, 1000, of_third);
  EXPECT_EQ(of_third, second_.reference);
  Take(first, 1000, of_first);
  EXPECT_EQ(of_first, first_.reference);
  EXPECT_EQ(first.recovery().restarts + third.recovery().restarts, 0u);
}

TEST_F(SharedWorker, MemoryIsDecodedBesideAReader) {
  VideoDecoder first =
      Open(Source::FromMemory(std::as_bytes(std::span(first_.bytes))).value());
  VideoDecoder second = Open(second_.source("second.ts"));
  ASSERT_EQ(first.worker_pid(), second.worker_pid());
  std::vector<std::string> of_first, of_second;
  Take(second, 10, of_second);
  Take(first, 1000, of_first);
  Take(second, 1000, of_second);
  EXPECT_EQ(of_first, first_.reference);
  EXPECT_EQ(of_second, second_.reference);
}

}  // namespace
}  // namespace bulkhead::tests
