// SPDX-License-Identifier: Apache-2.0
//
// Tests that threads share one Host, as its header says: they open, decode,
// seek, cancel and close streams of a backend that misbehaves, hand decoders
// and frames to each other, restart and reload the backend, and lose workers
// and bulkheadd meanwhile. ThreadSanitizer watches the Host in its build.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

constexpr int kPlayers = 3;
constexpr int kStreamsOfAPlayer = 8;
constexpr size_t kFrames = 120;
constexpr size_t kHandOver = 50;

// Each happens in the first life of a stream, so that no frame is lost.
constexpr const char* kFaults[] = {
    "",
    "at=packet:20 do=segfault lives=1",
    "at=open do=abort lives=1",
    "at=packet:70 do=error:7 lives=1",
    "at=flush do=exit:3 lives=1",
    "at=packet:40 do=hang lives=1",
    "at=close do=spin",
};

// A decoder that one thread opens and another one closes.
struct Stream {
  VideoDecoder video;
  Cancellation cancellation;
};

class Threads : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    expected_ = HashesByFfmpeg(clip_).value();
    ASSERT_EQ(expected_.size(), kFrames);
    HostOptions options = installation_.options();
    // Nothing here is refused for having failed too often.
    options.limits.attempts_per_position = 1000;
    options.limits.restarts_per_position = 1000;
    options.limits.kills_per_position = 1000;
    options.limits.failures_per_backend = 1000;
    options.deadlines.seek = kShort;
    options.deadlines.frame = kShort;
    options.on_event = [this](const Event&) { ++events_; };
    host_ = Host::Create(options).value();
  }

  // Repeats a call until no other thread cancels it.
  template <typename Call>
  auto Insist(const Call& call) {
    for (;;) {
      auto outcome = call();
      if (outcome || outcome.error().code() != Code::kCancelled) return outcome;
      ++cancelled_;
    }
  }

  std::optional<Stream> Open(const char* faults) {
    VideoOptions options = ChaosInstallation::Stream(faults);
    options.cancellation = Cancellation::Create().value();
    {
      const std::lock_guard lock(mutex_);
      cancellations_.push_back(*options.cancellation);
      ++opened_;
    }
    changed_.notify_all();
    auto video = Insist([&] { return host_->OpenVideo(clip_, options); });
    EXPECT_TRUE(video) << faults << ": " << video.error();
    if (!video) return std::nullopt;
    return Stream{*std::move(video), *options.cancellation};
  }

  // Expects the frames from `first` on, up to `last`.
  void Play(Stream& stream, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      auto frame = Insist([&] { return stream.video.Next(); });
      ASSERT_TRUE(frame) << "frame " << i << ": " << frame.error();
      ASSERT_TRUE(*frame) << "no frame " << i;
      ASSERT_EQ(HashOf(**frame), expected_[i]) << "frame " << i;
      Keep(**std::move(frame));
    }
  }

  void Jump(Stream& stream) {
    for (const int64_t index : {100, 3, 60}) {
      const auto frame = Insist([&] { return stream.video.FrameAt(index); });
      ASSERT_TRUE(frame) << "frame " << index << ": " << frame.error();
      ASSERT_EQ(HashOf(*frame), expected_[index]) << "frame " << index;
    }
  }

  // Keeps one frame, in place of another that this thread destroys.
  void Keep(Frame frame) {
    std::optional<Frame> kept(std::move(frame));
    const std::lock_guard lock(mutex_);
    std::swap(kept, kept_);
  }

  // Leaves a stream for another thread, and takes the one that was left here.
  std::optional<Stream> Exchange(std::optional<Stream> stream) {
    const std::lock_guard lock(mutex_);
    std::swap(stream, left_);
    return stream;
  }

  // The second half of a stream's life, mostly on another thread.
  void Finish(std::optional<Stream> stream) {
    if (!stream) return;
    Play(*stream, kHandOver, kFrames);
    Jump(*stream);
    stream.reset();
    const std::lock_guard lock(mutex_);
    ++closed_;
    changed_.notify_all();
  }

  void OpenAndPlay(int player) {
    for (int i = 0; i < kStreamsOfAPlayer; ++i) {
      const char* faults = kFaults[(player + i) % std::size(kFaults)];
      std::optional<Stream> stream = Open(faults);
      if (!stream) return;
      Play(*stream, 0, kHandOver);
      Finish(Exchange(std::move(stream)));
    }
  }

  // Calls `act` each time that `count` has grown by `step`, until all is done.
  template <typename Act>
  void AtEach(const int& count, int step, const Act& act) {
    for (int next = step;; next += step) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return done_ || count >= next; });
      if (done_) return;
      lock.unlock();
      act();
    }
  }

  void CancelAll() {
    std::vector<Cancellation> cancellations;
    {
      const std::lock_guard lock(mutex_);
      cancellations = cancellations_;
    }
    for (const Cancellation& one : cancellations) one.Cancel();
  }

  void KillBulkheadd() {
    const ProcessWatch supervisor(host_->supervisor_pid());
    if (supervisor.Signal(SIGKILL)) ++kills_;
  }

  void Operate() {
    while (!done_) {
      for (const Status& status :
           {host_->Restart("chaos"), host_->Prewarm("chaos"),
            host_->Reload("chaos")}) {
        EXPECT_TRUE(status.ok()) << status;
      }
      const auto devices = host_->Devices();
      EXPECT_TRUE(devices) << devices.error();
      const auto backends = host_->Backends();
      EXPECT_TRUE(backends) << backends.error();
      const auto sandbox = host_->Sandbox();
      EXPECT_TRUE(sandbox) << sandbox.error();
      ++operations_;
    }
  }

  ChaosInstallation installation_;
  std::string clip_;
  std::vector<std::string> expected_;
  std::unique_ptr<Host> host_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_, as are the changes of done_.
  std::vector<Cancellation> cancellations_;
  std::optional<Stream> left_;
  std::optional<Frame> kept_;
  int opened_ = 0;
  int closed_ = 0;

  // Needs no protection: the observer runs on one thread at a time.
  int events_ = 0;

  std::atomic<bool> done_ = false;
  std::atomic<int> cancelled_ = 0;
  std::atomic<int> kills_ = 0;
  std::atomic<int> operations_ = 0;
};

TEST_F(Threads, ShareOneHostWhoseBackendMisbehaves) {
  std::vector<std::thread> players;
  for (int i = 0; i < kPlayers; ++i) {
    players.emplace_back([this, i] { OpenAndPlay(i); });
  }
  std::vector<std::thread> others;
  others.emplace_back([this] { AtEach(opened_, 1, [&] { CancelAll(); }); });
  others.emplace_back([this] { AtEach(closed_, 6, [&] { KillBulkheadd(); }); });
  others.emplace_back([this] { Operate(); });
  for (std::thread& player : players) player.join();
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  for (std::thread& other : others) other.join();
  // The last stream outlives the Host.
  host_.reset();
  Finish(Exchange(std::nullopt));

  EXPECT_EQ(closed_, kPlayers * kStreamsOfAPlayer);
  EXPECT_GT(cancelled_, 0);
  EXPECT_GT(kills_, 0);
  EXPECT_GT(operations_, 0);
  EXPECT_GT(events_, 0);
}

}  // namespace
}  // namespace bulkhead::tests
