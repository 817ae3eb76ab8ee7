// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "tests/decoding/decoding_fixture.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// The frames equal an undisturbed run's, whichever process dies.
class Recovery : public DecodingTest {
 protected:
  using Victim = std::function<int(VideoDecoder&)>;

  static std::set<size_t> RandomFrames(unsigned seed, size_t count) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<size_t> frame(0, 119);
    std::set<size_t> frames;
    while (frames.size() < count) frames.insert(frame(random));
    return frames;
  }

  // Kills the victim before each of the given frames, or as soon after as there
  // is a victim. A death only shows once the frames decoded ahead are used up.
  std::vector<std::string> DecodeKilling(VideoDecoder& video,
                                         const std::set<size_t>& frames,
                                         const Victim& victim,
                                         int signal = SIGKILL) {
    size_t owed = 0;
    return HashesOf(video, [&, this](VideoDecoder& decoder, size_t frame) {
      owed += frames.count(frame);
      if (owed == 0) return;
      const ProcessWatch process(victim(decoder));
      if (!process.Signal(signal)) return;
      ASSERT_TRUE(process.AwaitEnd());
      ++kills_;
      --owed;
    });
  }

  static int Worker(VideoDecoder& video) { return video.worker_pid(); }

  size_t kills() const { return kills_; }

 private:
  size_t kills_ = 0;
};

TEST_F(Recovery, WorkerKilledAtChosenFrames) {
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(DecodeKilling(video, {0, 1, 23, 24, 25, 60, 118, 119}, Worker),
            Reference(Clip::kH264));
  EXPECT_GE(kills(), 5u);
  EXPECT_GE(video.recovery().restarts, 4u);
  EXPECT_LE(video.recovery().restarts, kills());
  EXPECT_NE(video.recovery().last_cause.find("signal 9"), std::string::npos)
      << video.recovery().last_cause;
}

TEST_F(Recovery, WorkerKilledAtTwentyRandomFrames) {
  VideoDecoder video = Open(Clip::kH264);
  for (unsigned seed = 0; kills() < 20 && seed < 10; ++seed) {
    EXPECT_EQ(DecodeKilling(video, RandomFrames(seed, 10), Worker),
              Reference(Clip::kH264));
    video.Rewind();
  }
  EXPECT_GE(kills(), 20u);
}

TEST_F(Recovery, WorkerOfEachClipKilled) {
  for (Clip clip : AllClips()) {
    VideoDecoder video = Open(clip);
    EXPECT_EQ(DecodeKilling(video, {0, 1, 7, 13, 19}, Worker), Reference(clip))
        << ClipName(clip);
  }
}

TEST_F(Recovery, WorkerKilledInTheMiddleOfWork) {
  const auto expected = Reference(Clip::kH264);
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  int kills = 0;
  std::thread killer([&] {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> pause(5, 60);
    std::unique_lock lock(mutex);
    while (kills < 20) {
      if (changed.wait_for(lock, milliseconds(pause(random)),
                           [&] { return done; })) {
        return;
      }
      lock.unlock();
      const auto report = host().Backends();
      lock.lock();
      if (!report) continue;
      for (const BackendInfo& backend : report->backends) {
        for (int pid : backend.session_pids) {
          if (ProcessWatch(pid).Signal(SIGKILL)) ++kills;
        }
      }
    }
    done = true;
  });
  bool enough = false;
  VideoDecoder video = Open(Clip::kH264);
  while (!enough) {
    EXPECT_EQ(HashesOf(video), expected);
    video.Rewind();
    const std::lock_guard lock(mutex);
    enough = done || HasFailure();
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  killer.join();
  EXPECT_EQ(kills, 20);
}

TEST_F(Recovery, ZygoteKilledFiveTimes) {
  VideoDecoder video = Open(Clip::kH264);
  // A session outlives its zygote, but needs a new zygote once its worker dies.
  const auto hashes = HashesOf(video, [&](VideoDecoder& decoder, size_t frame) {
    if (frame % 24 != 7) return;
    const ProcessWatch zygote(Backend().zygote_pid);
    const ProcessWatch worker(decoder.worker_pid());
    ASSERT_TRUE(zygote.Signal(SIGKILL)) << frame;
    ASSERT_TRUE(zygote.AwaitEnd());
    ASSERT_TRUE(worker.Signal(SIGKILL)) << "it died with its zygote";
    ASSERT_TRUE(worker.AwaitEnd());
  });
  EXPECT_EQ(hashes, Reference(Clip::kH264));
}

TEST_F(Recovery, SessionOutlivesItsZygote) {
  VideoDecoder video = Open(Clip::kH264);
  const int worker = video.worker_pid();
  const auto hashes = HashesOf(video, [&](VideoDecoder&, size_t frame) {
    if (frame != 50) return;
    const ProcessWatch zygote(Backend().zygote_pid);
    ASSERT_TRUE(zygote.Signal(SIGKILL));
    ASSERT_TRUE(zygote.AwaitEnd());
  });
  EXPECT_EQ(hashes, Reference(Clip::kH264));
  EXPECT_EQ(video.worker_pid(), worker);
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_F(Recovery, ReaperKilledFiveTimes) {
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(DecodeKilling(video, {0, 17, 50, 75, 100},
                          [&](VideoDecoder&) { return Backend().reaper_pid; }),
            Reference(Clip::kH264));
  EXPECT_EQ(kills(), 5u);
}

TEST_F(Recovery, SupervisorKilledFiveTimes) {
  VideoDecoder video = Open(Clip::kH264);
  // On a busy machine, frames decoded ahead can hide a death for long.
  for (int round = 0; kills() < 5 && round < 10; ++round) {
    EXPECT_EQ(
        DecodeKilling(video, {0, 20, 40, 75, 100},
                      [&](VideoDecoder&) { return host().supervisor_pid(); }),
        Reference(Clip::kH264));
    video.Rewind();
  }
  EXPECT_GE(kills(), 5u);
}

TEST_F(Recovery, SupervisorKilledThenAnotherSessionIsOpened) {
  VideoDecoder first = Open(Clip::kH264);
  ASSERT_TRUE(first.Next().value());
  const ProcessWatch supervisor(host().supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGKILL));
  ASSERT_TRUE(supervisor.AwaitEnd());
  VideoDecoder second = Open(Clip::kVp9);
  EXPECT_EQ(HashesOf(second), Reference(Clip::kVp9));
  first.Rewind();
  EXPECT_EQ(HashesOf(first), Reference(Clip::kH264));
}

TEST_F(Recovery, AccessByIndexSurvivesToo) {
  const auto expected = Reference(Clip::kH264);
  VideoDecoder video = Open(Clip::kH264);
  for (int64_t index : {100, 3, 50, 119, 0}) {
    const ProcessWatch worker(video.worker_pid());
    ASSERT_TRUE(worker.Signal(SIGKILL));
    const auto frame = video.FrameAt(index);
    ASSERT_TRUE(frame) << frame.error();
    EXPECT_EQ(HashOf(*frame), expected[index]);
  }
}

TEST_F(Recovery, FramesHeldWhileTheWorkerDiesKeepTheirPixels) {
  const auto expected = Reference(Clip::kH264);
  VideoDecoder video = Open(Clip::kH264);
  std::vector<Frame> held;
  for (int i = 0; i < 3; ++i) held.push_back(*video.Next().value());
  for (int i = 0; i < 3; ++i) {
    ProcessWatch(video.worker_pid()).Signal(SIGKILL);
    for (int j = 0; j < 10; ++j) ASSERT_TRUE(video.Next().value());
  }
  std::vector<std::string> hashes;
  for (const Frame& frame : held) hashes.push_back(HashOf(frame));
  ExpectSameFrames(Fault(11), "held while three workers are killed",
                   {expected.begin(), expected.begin() + 3}, hashes);
}

TEST_F(Recovery, CrashIsRecoveredOnceAndAttributed) {
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(DecodeKilling(video, {30}, Worker, SIGSEGV),
            Reference(Clip::kH264));
  EXPECT_EQ(video.recovery().restarts, 1u);
  EXPECT_NE(video.recovery().last_cause.find("signal 11"), std::string::npos)
      << video.recovery().last_cause;
}

TEST_F(Recovery, CrashOfOneSessionDisturbsNoOther) {
  VideoDecoder victim = Open(Clip::kVp9);
  VideoDecoder bystander = Open(Clip::kH264);
  const int worker = bystander.worker_pid();
  // If the backend has asked for one worker for all sessions, the death hits
  // every session, and still changes no frame.
  const bool shared = victim.worker_pid() == worker;
  const auto hashes = HashesOf(bystander, [&](VideoDecoder&, size_t frame) {
    if (frame != 60) return;
    ProcessWatch(victim.worker_pid()).Signal(SIGSEGV);
    EXPECT_EQ(HashesOf(victim), Reference(Clip::kVp9));
  });
  EXPECT_EQ(hashes, Reference(Clip::kH264));
  EXPECT_EQ(bystander.worker_pid() == worker, !shared);
  EXPECT_EQ(bystander.recovery().restarts, shared ? 1u : 0u);
}

}  // namespace
}  // namespace bulkhead::tests
