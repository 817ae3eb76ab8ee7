// SPDX-License-Identifier: Apache-2.0
//
// Calls that wait, and a second thread that ends them. Every call here would
// wait for a minute: the deadlines are far longer than the test may take.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/crashes.h"
#include "bulkhead/host.h"
#include "tests/audio/audio_files.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/chaos/held.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon{30'000};
constexpr milliseconds kLong{60'000};
constexpr size_t kFrames = 120;
// A frame has 512 ticks. The keyframe before it is frame 96.
constexpr const char* kAtFrame98 = "at=picture:50176 do=hang";

// Runs a call on a thread of its own.
template <typename Call>
class Background {
 public:
  explicit Background(Call call)
      : thread_([this, call = std::move(call)] {
          thread_id_ = static_cast<pid_t>(::syscall(SYS_gettid));
          outcome_.emplace(call());
        }) {}
  ~Background() {
    if (thread_.joinable()) thread_.join();
  }

  // Returns what the call returned, once it has.
  auto Join() {
    thread_.join();
    return *std::move(outcome_);
  }
  // Waits until the thread sleeps for bulkheadd, in ppoll(), or for a worker,
  // in futex_waitv, or else in another system call.
  void AwaitSleep(long number = SYS_ppoll) const {
    const auto end = std::chrono::steady_clock::now() + kSoon;
    const std::string wanted = std::to_string(number) + " ";
    std::string call;
    while (!call.starts_with(wanted) &&
           !(number == SYS_ppoll && call.starts_with(kFutexWaitv))) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << call;
      std::ifstream file("/proc/self/task/" + std::to_string(thread_id_) +
                         "/syscall");
      std::getline(file, call);
    }
  }

 private:
  // The C library has no name for the number.
  static constexpr char kFutexWaitv[] = "449 ";

  std::atomic<pid_t> thread_id_ = 0;
  std::optional<decltype(std::declval<Call>()())> outcome_;
  std::thread thread_;
};

class Cancelling : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    expected_ = HashesByFfmpeg(clip_).value();
    NewHost();
  }

  void NewHost() {
    HostOptions options = installation_.options();
    Deadlines& deadlines = options.deadlines;
    deadlines.open = deadlines.scan = deadlines.seek = deadlines.frame = kLong;
    deadlines.worker_start = deadlines.backend_start = kLong;
    options.state_directory = state_;
    host_ = Host::Create(options).value();
  }
  VideoDecoder Open(const std::string& faults) {
    return host_->OpenVideo(clip_, ChaosInstallation::Stream(faults)).value();
  }
  // Waits until a worker hangs in the backend. Returns its pid.
  pid_t AwaitHang() const {
    return AwaitHeld(host_->supervisor_pid(), kSoon).value_or(0);
  }

  size_t RecordedCrashes() const {
    const Result<CrashList> list = ReadCrashes(state_);
    return list ? list->crashes.size() : 0;
  }

  ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
  const std::string state_ = TemporaryDirectory() + "/state";
};

// Waits until no thread of the process runs.
void AwaitAsleep(pid_t pid) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  const auto is_asleep = [](const auto& task) {
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    return stat.find(") S ") != std::string::npos;
  };
  while (!std::all_of(std::filesystem::directory_iterator(tasks),
                      std::filesystem::directory_iterator(), is_asleep)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
}

TEST_F(Cancelling, EndsACallThatWaitsForABackendAndTheNextOneGoesOn) {
  VideoDecoder video = Open("at=packet:60 do=hang lives=1");
  std::vector<std::string> hashes;
  Background pass([&]() -> Status {
    for (;;) {
      Result<std::optional<Frame>> frame = video.Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
      hashes.push_back(HashOf(**frame));
    }
  });
  const pid_t worker = AwaitHang();
  ASSERT_NE(worker, 0);
  // Another thread of the worker may still have a picture to publish: the call
  // would return that, and the next one would be cancelled before it began.
  AwaitAsleep(worker);
  pass.AwaitSleep();
  const ProcessWatch watch(worker);
  video.Cancel();
  const Status ended = pass.Join();
  EXPECT_EQ(ended.code(), Code::kCancelled) << ended;
  EXPECT_NE(ended.message().find(clip_), std::string::npos) << ended;
  // The step does not go on after its call has ended.
  EXPECT_TRUE(watch.AwaitEnd(kSoon));
  EXPECT_EQ(video.recovery().restarts, 0u);

  EXPECT_GT(hashes.size(), 0u);
  EXPECT_LT(hashes.size(), kFrames);
  for (std::string& hash : HashesOfRest(video)) {
    hashes.push_back(std::move(hash));
  }
  EXPECT_EQ(hashes, expected_);
  EXPECT_EQ(video.recovery().restarts, 0u);
  EXPECT_EQ(RecordedCrashes(), 0u);
}

TEST_F(Cancelling, CountsAgainstNobody) {
  // More often than the input or the backend would be forgiven.
  VideoDecoder video = Open(std::string(kAtFrame98) + " lives=1-8");
  for (int i = 0; i < 8; ++i) {
    Background find([&] { return video.FrameAt(100); });
    ASSERT_NE(AwaitHang(), 0) << i;
    video.Cancel();
    const Result<Frame> frame = find.Join();
    ASSERT_EQ(frame.error().code(), Code::kCancelled) << frame.error();
  }
  const Result<Frame> frame = video.FrameAt(100);
  ASSERT_TRUE(frame) << frame.error();
  EXPECT_EQ(HashOf(*frame), expected_[100]);
  EXPECT_EQ(RecordedCrashes(), 0u);
}

TEST_F(Cancelling, BetweenTwoCallsEndsTheNextOneAndNoOther) {
  VideoDecoder video = Open("");
  ASSERT_TRUE(video.Next());
  video.Cancel();
  video.Cancel();
  const pid_t worker = video.worker_pid();
  EXPECT_EQ(video.Next().error().code(), Code::kCancelled);
  // Nothing was under way, so nothing was lost.
  EXPECT_EQ(video.worker_pid(), worker);
  EXPECT_EQ(HashesOfRest(video).size(), kFrames - 1);
  // What is known without a worker is a call too.
  ASSERT_EQ(video.FrameCount().value(), kFrames);
  video.Cancel();
  EXPECT_EQ(video.FrameCount().error().code(), Code::kCancelled);
  EXPECT_EQ(video.FrameCount().value(), kFrames);
}

TEST_F(Cancelling, EndsABatchWhoseFramesKeepComing) {
  VideoDecoder video = Open("at=packet do=slow:20");
  ASSERT_EQ(video.FrameCount().value(), kFrames);
  Background batch([&] { return video.AllFrames(); });
  batch.AwaitSleep();
  video.Cancel();
  const Result<FrameBatch> frames = batch.Join();
  ASSERT_FALSE(frames);
  EXPECT_EQ(frames.error().code(), Code::kCancelled) << frames.error();
  EXPECT_EQ(HashOf(video.FrameAt(7).value()), expected_[7]);
}

TEST_F(Cancelling, EndsAnOpeningThroughItsOptions) {
  VideoOptions options = ChaosInstallation::Stream("at=open do=hang");
  options.cancellation = Cancellation::Create().value();
  Background opening([&] { return host_->OpenVideo(clip_, options); });
  ASSERT_NE(AwaitHang(), 0);
  opening.AwaitSleep();
  options.cancellation->Cancel();
  EXPECT_EQ(opening.Join().error().code(), Code::kCancelled);
  EXPECT_EQ(RecordedCrashes(), 0u) << "the deadline ended the call";

  // The same Cancellation serves again, and is the decoder's own.
  options.backend_options = {};
  Result<VideoDecoder> video = host_->OpenVideo(clip_, options);
  ASSERT_TRUE(video) << video.error();
  options.cancellation->Cancel();
  EXPECT_EQ(video->Next().error().code(), Code::kCancelled);
  EXPECT_EQ(HashesOfRest(*video), expected_);
}

TEST_F(Cancelling, EndsACallThatWaitsForTheStartOfABackend) {
  installation_.SetFaults("at=load do=hang");
  NewHost();
  VideoOptions options = ChaosInstallation::Stream();
  options.cancellation = Cancellation::Create().value();
  Background opening([&] { return host_->OpenVideo(clip_, options); });
  ASSERT_NE(AwaitHang(), 0);
  opening.AwaitSleep();
  options.cancellation->Cancel();
  EXPECT_EQ(opening.Join().error().code(), Code::kCancelled);
  // Others are served meanwhile.
  EXPECT_TRUE(host_->OpenVideo(clip_, {.device = "cpu"}));
}

TEST_F(Cancelling, EndsCallsOfTheHost) {
  installation_.SetFaults("at=load do=hang");
  NewHost();
  const auto cancellation = Cancellation::Create().value();
  Background warming([&] { return host_->Prewarm("chaos", cancellation); });
  ASSERT_NE(AwaitHang(), 0);
  warming.AwaitSleep();
  cancellation.Cancel();
  EXPECT_EQ(warming.Join().code(), Code::kCancelled);
  Background loading(
      [&] { return host_->LoadBackend(installation_.path(), cancellation); });
  loading.AwaitSleep();
  cancellation.Cancel();
  EXPECT_EQ(loading.Join().error().code(), Code::kCancelled);
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  Background listing([&] { return host_->Devices(cancellation); });
  listing.AwaitSleep();
  cancellation.Cancel();
  EXPECT_EQ(listing.Join().error().code(), Code::kCancelled);
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  EXPECT_TRUE(host_->Devices(cancellation));
}

// A reader that blocks until it is released.
struct SlowReader {
  explicit SlowReader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  Result<size_t> Read(uint64_t offset, std::span<std::byte> out) {
    std::unique_lock lock(mutex);
    ++reads;
    changed.notify_all();
    changed.wait(lock, [&] { return !blocked; });
    const size_t count = std::min(out.size(), size_t{100});
    std::memcpy(out.data(), bytes.data() + offset, count);
    return std::min<size_t>(count, bytes.size() - offset);
  }
  void Block(bool now) {
    std::lock_guard lock(mutex);
    blocked = now;
    changed.notify_all();
  }
  void AwaitRead() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return reads > 0; });
  }

  std::string bytes;
  std::mutex mutex;
  std::condition_variable changed;
  bool blocked = true;
  int reads = 0;
};

TEST_F(Cancelling, AsksASlowReaderNoFurther) {
  SlowReader reader(clip_);
  reader.bytes.resize(reader.bytes.size() + 100);  // what a read may copy
  const size_t size = reader.bytes.size() - 100;
  const Source source =
      Source::FromReader(
          SourceReader{.read =
                           [&](uint64_t offset, std::span<std::byte> out) {
                             return reader.Read(offset, out);
                           },
                       .bytes = size},
          "clip.mp4")
          .value();
  ProbeOptions options{.device = "cpu"};
  options.cancellation = Cancellation::Create().value();
  Background probe([&] { return host_->Probe(source, options); });
  reader.AwaitRead();
  options.cancellation->Cancel();
  reader.Block(false);
  const auto container = probe.Join();
  EXPECT_EQ(container.error().code(), Code::kCancelled) << container.error();
  // Of a window, which is far larger than what it gives at a time.
  EXPECT_EQ(reader.reads, 1);
}

TEST_F(Cancelling, EndsAudioToo) {
  AudioOptions options = ChaosInstallation::AudioStream();
  const std::string path = MakeAudio("tone.wav", {"-c:a", "pcm_s16le"}, 1);
  ASSERT_NE(path, "");
  options.backend_options = {{"faults", "at=packet:20 do=hang lives=1"}};
  AudioDecoder audio = host_->OpenAudio(path, options).value();
  Background whole([&] { return audio.AllSamples(); });
  ASSERT_NE(AwaitHang(), 0);
  whole.AwaitSleep();
  audio.Cancel();
  EXPECT_EQ(whole.Join().error().code(), Code::kCancelled);
  EXPECT_EQ(audio.AllSamples().value().count(), 44'100u);
  EXPECT_EQ(audio.recovery().restarts, 0u);
}

TEST_F(Cancelling, EndsACallThatWaitsForAStoppedBulkheadd) {
  HostOptions options = installation_.options();
  options.deadlines.supervisor_start = kLong;
  host_ = Host::Create(options).value();
  VideoDecoder video = Open("");
  ASSERT_TRUE(video.Next());
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  video.Rewind();
  Background pass([&]() -> Status {
    for (;;) {
      Result<std::optional<Frame>> frame = video.Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
    }
  });
  pass.AwaitSleep();
  const auto cancelled_at = std::chrono::steady_clock::now();
  video.Cancel();
  EXPECT_EQ(pass.Join().code(), Code::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - cancelled_at, kLong / 2);
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  EXPECT_EQ(HashesOfRest(video), expected_);
}

// Another thread's call connects to bulkheadd meanwhile.
TEST_F(Cancelling, EndsACallThatWaitsForItsTurnAtAStoppedBulkheadd) {
  HostOptions options = installation_.options();
  options.deadlines.supervisor_start = kLong;
  options.deadlines.backend_start = kLong;
  host_ = Host::Create(options).value();
  // Leaves one connection, which the first of the calls takes.
  ASSERT_EQ(HashesOfRest(*std::make_unique<VideoDecoder>(Open(""))), expected_);
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  std::vector<VideoOptions> openings(3, ChaosInstallation::Stream());
  for (VideoOptions& opening : openings) {
    opening.cancellation = Cancellation::Create().value();
  }
  const auto open = [&](size_t i) {
    return [this, &opening = openings[i]] {
      return host_->OpenVideo(clip_, opening);
    };
  };
  Background asks(open(0));
  asks.AwaitSleep();
  Background connects(open(1));
  connects.AwaitSleep();
  Background waits(open(2));
  waits.AwaitSleep(SYS_poll);
  const auto cancelled_at = std::chrono::steady_clock::now();
  openings[2].cancellation->Cancel();
  EXPECT_EQ(waits.Join().error().code(), Code::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - cancelled_at, kLong / 2);
  openings[0].cancellation->Cancel();
  openings[1].cancellation->Cancel();
  EXPECT_EQ(asks.Join().error().code(), Code::kCancelled);
  EXPECT_EQ(connects.Join().error().code(), Code::kCancelled);
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  VideoDecoder video = Open("");
  EXPECT_EQ(HashesOfRest(video), expected_);
}

// A handler may only do what is async-signal-safe.
const Cancellation* interrupted = nullptr;

TEST_F(Cancelling, WorksInASignalHandlerAndNotInAFork) {
  VideoOptions options =
      ChaosInstallation::Stream(std::string(kAtFrame98) + " lives=1");
  options.cancellation = Cancellation::Create().value();
  VideoDecoder video = host_->OpenVideo(clip_, options).value();
  const pid_t child = ::fork();
  if (child == 0) {
    options.cancellation->Cancel();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(video.Next());

  interrupted = &*options.cancellation;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted->Cancel(); };
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  Background find([&] { return video.FrameAt(100); });
  ASSERT_NE(AwaitHang(), 0);
  find.AwaitSleep();
  ASSERT_EQ(::raise(SIGUSR1), 0);
  EXPECT_EQ(find.Join().error().code(), Code::kCancelled);
  EXPECT_EQ(RecordedCrashes(), 0u) << "the deadline ended the call";
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

}  // namespace
}  // namespace bulkhead::tests
