// SPDX-License-Identifier: Apache-2.0
//
// Streams whose backend fails for good, and that go on on another device
// because the caller wrote on_failure: at which frame, with which pictures, and
// what is said of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/audio/audio_files.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/chaos/held.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Proof = Failover::Proof;

constexpr milliseconds kSoon{30'000};
constexpr size_t kFrames = 120;
// A frame has 512 ticks, and every 24th is a keyframe.
constexpr size_t kFatal = 60;
constexpr const char* kDies = "at=picture:30720 do=segfault";
// A bit of the last frame that is delivered before.
constexpr const char* kLiesBefore = "at=picture:30208 do=flip\n";
constexpr const char* kLiesEarly = "at=picture:0 do=flip\n";

class FailoverTest : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    expected_ = HashesByFfmpeg(clip_).value();
    ASSERT_EQ(expected_.size(), kFrames);
    NewHost();
  }

  // One attempt, so that nothing has to hang thrice.
  void NewHost(const std::string& of_file = "") {
    host_.reset();
    installation_.SetFaults(of_file);
    HostOptions options = installation_.options();
    options.limits.attempts_per_position = 1;
    options.deadlines.frame = kShort;
    options.on_event = [this](const Event& event) { events_.push_back(event); };
    host_ = Host::Create(options).value();
  }

  VideoOptions Options(const std::string& faults) {
    VideoOptions options = ChaosInstallation::Stream(faults);
    options.on_failure = "cpu";
    options.recovery_observer = [this](const Recovery& recovery) {
      recoveries_.push_back(recovery);
    };
    return options;
  }

  std::vector<std::string> ExpectedFrom(size_t first) const {
    return {expected_.begin() + static_cast<ptrdiff_t>(first), expected_.end()};
  }

  ptrdiff_t CountOf(Event::Kind kind) const {
    return std::count_if(
        events_.begin(), events_.end(),
        [kind](const Event& event) { return event.kind == kind; });
  }

  // Waits for the first event of the kind.
  Event The(Event::Kind kind) {
    const auto end = std::chrono::steady_clock::now() + kSoon;
    while (CountOf(kind) == 0 && std::chrono::steady_clock::now() < end) {
      // Events come with the calls of the Host.
      (void)host_->Devices();
    }
    for (const Event& event : events_) {
      if (event.kind == kind) return event;
    }
    ADD_FAILURE() << "no event " << EventKindName(kind);
    return {};
  }

  // What `ps` says of the backend.
  RunningBackend Running(const std::string& name) const {
    for (const RunningHost& host :
         FindRunningHosts(milliseconds(0)).value().hosts) {
      if (host.supervisor_pid != host_->supervisor_pid()) continue;
      for (const RunningBackend& backend : host.backends) {
        if (backend.name == name) return backend;
      }
    }
    ADD_FAILURE() << "there is no backend " << name;
    return {};
  }

  ChaosInstallation installation_;
  std::vector<Event> events_;
  std::vector<Recovery> recoveries_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
};

struct Loss {
  const char* name;
  const char* faults;
  Code code;
};

void PrintTo(const Loss& loss, std::ostream* out) { *out << loss.name; }

class EachLoss : public FailoverTest,
                 public testing::WithParamInterface<Loss> {};

TEST_P(EachLoss, GoesOnAtTheSameFrame) {
  if (clip_.empty()) return;
  auto video = host_->OpenVideo(clip_, Options(GetParam().faults)).value();
  EXPECT_EQ(video.metadata().device, "chaos:0");
  for (size_t i = 0; i < kFrames; ++i) {
    const auto frame = video.Next();
    ASSERT_TRUE(frame) << i << ": " << frame.error();
    ASSERT_TRUE(frame->has_value()) << i;
    EXPECT_EQ((*frame)->index(), i);
    EXPECT_EQ(HashOf(**frame), expected_[i]) << i;
    EXPECT_EQ((*frame)->device(), i < kFatal ? "chaos:0" : "cpu:0") << i;
  }
  EXPECT_FALSE(video.Next().value());
  EXPECT_EQ(video.metadata().device, "cpu:0");
  EXPECT_EQ(video.metadata().backend, "cpu");

  const auto failover = video.recovery().failover;
  ASSERT_TRUE(failover);
  EXPECT_EQ(failover->from, "chaos:0");
  EXPECT_EQ(failover->to, "cpu:0");
  EXPECT_EQ(failover->frame, kFatal);
  EXPECT_EQ(failover->proof, Proof::kSame);
  EXPECT_EQ(failover->compared, kFatal);
  EXPECT_EQ(failover->cause.code(), GetParam().code) << failover->cause;
  EXPECT_THAT(failover->text,
              AllOf(HasSubstr("at frame 60"), HasSubstr("60 were compared"),
                    HasSubstr(CodeName(GetParam().code))));

  ASSERT_EQ(recoveries_.size(), 1u);
  EXPECT_TRUE(recoveries_[0].failover);
  EXPECT_EQ(recoveries_[0].device, "cpu:0");
  EXPECT_EQ(recoveries_[0].attempts, 1u);

  const Event event = The(Event::Kind::kFailover);
  EXPECT_EQ(event.backend, "chaos");
  EXPECT_EQ(event.device, "chaos:0");
  EXPECT_THAT(event.text, AllOf(HasSubstr(clip_), HasSubstr("at frame 60")));
  EXPECT_EQ(CountOf(Event::Kind::kFailoverFailed), 0);
  EXPECT_EQ(Running("chaos").failovers, 1u);
  EXPECT_EQ(Running("chaos").failed_failovers, 0u);
  EXPECT_EQ(Running("cpu").failovers, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Losses, EachLoss,
    testing::Values(Loss{"dies", kDies, Code::kPoisonedInput},
                    Loss{"hangs", "at=picture:30720 do=hang",
                         Code::kDeadlineExceeded},
                    Loss{"breaks_the_abi", "at=picture:30720 do=error:99",
                         Code::kBackendMisbehaved}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(FailoverTest, OtherPicturesAreToldAndGoOn) {
  if (clip_.empty()) return;
  auto video =
      host_->OpenVideo(clip_, Options(std::string(kLiesBefore) + kDies))
          .value();
  for (size_t i = 0; i < 70; ++i) {
    const auto frame = video.Next().value();
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(frame->index(), i);
    EXPECT_EQ(HashOf(*frame) == expected_[i], i != kFatal - 1) << i;
  }
  const auto failover = video.recovery().failover;
  ASSERT_TRUE(failover);
  EXPECT_EQ(failover->frame, kFatal);
  EXPECT_EQ(failover->proof, Proof::kDifferent);
  EXPECT_EQ(failover->compared, 0u);
  EXPECT_THAT(failover->text, HasSubstr("differ"));
  // The record of what the first device delivered is no reason to fail later.
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  EXPECT_EQ(HashesOfRest(video), ExpectedFrom(70));
  EXPECT_EQ(video.recovery().restarts, 2u);
}

TEST_F(FailoverTest, AWorkerThatDiesRightAfterOtherPicturesIsReplaced) {
  if (clip_.empty()) return;
  auto video =
      host_->OpenVideo(clip_, Options(std::string(kLiesBefore) + kDies))
          .value();
  for (size_t i = 0; i <= kFatal; ++i) ASSERT_TRUE(video.Next().value()) << i;
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  EXPECT_EQ(HashesOfRest(video), ExpectedFrom(kFatal + 1));
}

TEST_F(FailoverTest, TheProofIsOfTheFramesThatWereCompared) {
  if (clip_.empty()) return;
  auto video = host_
                   ->OpenVideo(clip_, Options(std::string(kLiesEarly) +
                                              "at=picture:51200 do=segfault"))
                   .value();
  ASSERT_NE(HashOf(*video.Next().value()), expected_[0]);
  HashesOfRest(video);
  const auto failover = video.recovery().failover;
  ASSERT_TRUE(failover);
  EXPECT_EQ(failover->frame, 100u);
  EXPECT_EQ(failover->proof, Proof::kSame);
  EXPECT_EQ(failover->compared, 64u);
}

TEST_F(FailoverTest, AStreamWithoutTimesGoesOnByItsNumbers) {
  if (clip_.empty()) return;
  const std::string raw = TemporaryDirectory() + "/raw.h264";
  ASSERT_EQ(RunFfmpeg({"-i", clip_, "-map", "0:v", "-c", "copy", "-bsf:v",
                       "h264_mp4toannexb", raw})
                .exit_code,
            0);
  const auto expected = HashesByFfmpeg(raw).value();
  for (const bool lies : {false, true}) {
    auto video =
        host_
            ->OpenVideo(
                raw, Options(std::string(lies ? "at=picture do=flip lives=1\n"
                                              : "") +
                             "at=packet:70 do=segfault"))
            .value();
    const auto hashes = HashesOfRest(video);
    const auto failover = video.recovery().failover;
    ASSERT_TRUE(failover);
    ASSERT_GT(failover->frame, 0u);
    EXPECT_EQ(failover->proof, lies ? Proof::kDifferent : Proof::kSame);
    ASSERT_EQ(hashes.size(), expected.size());
    for (size_t i = 0; i < hashes.size(); ++i) {
      EXPECT_EQ(hashes[i] == expected[i], !lies || i >= failover->frame) << i;
    }
  }
}

TEST_F(FailoverTest, ABackendThatDoesNotStartIsReplacedAtOpen) {
  if (clip_.empty()) return;
  NewHost("at=load do=null");
  auto video = host_->OpenVideo(clip_, Options("")).value();
  EXPECT_EQ(video.metadata().device, "cpu:0");
  EXPECT_EQ(HashesOfRest(video), expected_);
  const auto failover = video.recovery().failover;
  ASSERT_TRUE(failover);
  EXPECT_EQ(failover->from, "chaos");
  EXPECT_EQ(failover->frame, 0u);
  EXPECT_EQ(failover->proof, Proof::kNothingBefore);
  EXPECT_EQ(failover->cause.code(), Code::kBackendUnavailable);
  ASSERT_EQ(recoveries_.size(), 1u);
  EXPECT_EQ(recoveries_[0].attempts, 0u);
}

TEST_F(FailoverTest, AStreamLeavesADeviceThatIsLost) {
  if (clip_.empty()) return;
  installation_.GrantADevice();
  NewHost();
  auto video =
      host_->OpenVideo(clip_, Options("at=picture:30720 do=error:6")).value();
  // Our own clip finds it lost, too.
  installation_.SetFaults("at=packet:0 do=error:6");
  EXPECT_EQ(HashesOfRest(video), expected_);
  const auto failover = video.recovery().failover;
  ASSERT_TRUE(failover);
  EXPECT_EQ(failover->frame, kFatal);
  EXPECT_EQ(failover->cause.code(), Code::kBackendLost) << failover->cause;
}

TEST_F(FailoverTest, AFileThatIsKnownToKillGoesElsewhereAtOnce) {
  if (clip_.empty()) return;
  const char* const kills = "at=open do=segfault";
  auto first = host_->OpenVideo(clip_, Options(kills)).value();
  EXPECT_EQ(HashesOfRest(first), expected_);
  auto video = host_->OpenVideo(clip_, Options(kills)).value();
  EXPECT_EQ(HashesOfRest(video), expected_);
  EXPECT_EQ(video.recovery().restarts, 0u);
  EXPECT_EQ(video.recovery().failover->cause.code(), Code::kPoisonedInput);
}

TEST_F(FailoverTest, FramesByNumberGoOnToo) {
  if (clip_.empty()) return;
  auto video = host_->OpenVideo(clip_, Options(kDies)).value();
  for (const int64_t i : {10, 4, 10, 50}) {
    EXPECT_EQ(video.FrameAt(i).value().device(), "chaos:0");
  }
  const auto fatal = video.FrameAt(kFatal);
  ASSERT_TRUE(fatal) << fatal.error();
  EXPECT_EQ(HashOf(*fatal), expected_[kFatal]);
  EXPECT_EQ(fatal->device(), "cpu:0");
  EXPECT_EQ(video.recovery().failover->proof, Proof::kSame);
  EXPECT_EQ(video.recovery().failover->compared, 3u);
  EXPECT_EQ(video.recovery().failover->frame, kFatal);
  for (const int64_t i : {10, 61, 119, 3}) {
    EXPECT_EQ(HashOf(*video.FrameAt(i)), expected_[static_cast<size_t>(i)]);
  }
}

TEST_F(FailoverTest, OtherPicturesByNumberAreTold) {
  if (clip_.empty()) return;
  auto video =
      host_->OpenVideo(clip_, Options(std::string(kLiesBefore) + kDies))
          .value();
  for (const int64_t i : {10, 59}) ASSERT_TRUE(video.FrameAt(i));
  EXPECT_EQ(HashOf(video.FrameAt(kFatal).value()), expected_[kFatal]);
  EXPECT_EQ(video.recovery().failover->proof, Proof::kDifferent);
  // The frames that Next() compares are no counterproof.
  EXPECT_EQ(HashesOfRest(video), expected_);
  EXPECT_EQ(video.recovery().failover->proof, Proof::kDifferent);
}

TEST_F(FailoverTest, NextComparesAlsoAfterFramesByNumber) {
  if (clip_.empty()) return;
  auto video = host_->OpenVideo(clip_, Options(kDies)).value();
  for (size_t i = 0; i < 20; ++i) ASSERT_TRUE(video.Next().value());
  ASSERT_TRUE(video.FrameAt(kFatal));
  EXPECT_EQ(video.recovery().failover->proof, Proof::kNone);
  EXPECT_EQ(HashesOfRest(video), ExpectedFrom(20));
  EXPECT_EQ(video.recovery().failover->proof, Proof::kSame);
  EXPECT_EQ(video.recovery().failover->compared, 20u);
  EXPECT_EQ(recoveries_.size(), 1u);
}

TEST_F(FailoverTest, ABatchHasThePicturesOfOneDevice) {
  if (clip_.empty()) return;
  const std::vector<int64_t> numbers = {59, 60, 70};
  auto video =
      host_->OpenVideo(clip_, Options(std::string(kLiesBefore) + kDies))
          .value();
  const auto batch = video.FramesAt(numbers);
  ASSERT_TRUE(batch) << batch.error();
  ASSERT_EQ(batch->size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(HashOf(batch->picture(i)),
              expected_[static_cast<size_t>(numbers[i])]);
  }
  ASSERT_TRUE(video.recovery().failover);
  // The frames of this batch that the first device gave were not delivered.
  EXPECT_EQ(video.recovery().failover->compared, 0u);
}

TEST_F(FailoverTest, WithoutTheOptionTheErrorStays) {
  if (clip_.empty()) return;
  VideoOptions options = Options(kDies);
  options.on_failure.clear();
  auto video = host_->OpenVideo(clip_, options).value();
  for (size_t i = 0; i < kFatal; ++i) ASSERT_TRUE(video.Next().value());
  const auto frame = video.Next();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), Code::kPoisonedInput);
  EXPECT_THAT(frame.error().message(), testing::Not(HasSubstr("on_failure")));
  EXPECT_FALSE(video.recovery().failover);
  EXPECT_EQ(video.metadata().device, "chaos:0");
}

TEST_F(FailoverTest, TheRecoveryOnTheSameDeviceComesFirst) {
  if (clip_.empty()) return;
  auto video = host_->OpenVideo(clip_, Options("")).value();
  ASSERT_TRUE(video.Next().value());
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  EXPECT_EQ(HashesOfRest(video), ExpectedFrom(1));
  EXPECT_FALSE(video.recovery().failover);
  EXPECT_EQ(video.metadata().device, "chaos:0");
}

TEST_F(FailoverTest, AFaultyFileIsNoReason) {
  if (clip_.empty()) return;
  const std::string path = TemporaryDirectory() + "/no.mp4";
  std::ofstream(path) << std::string(10'000, 'x');
  const auto none = host_->OpenVideo(path, Options(""));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kBadInput);
  EXPECT_THAT(none.error().message(), testing::Not(HasSubstr("on_failure")));

  // Damages frames after the first ones.
  const std::string damaged = TemporaryDirectory() + "/damaged.mp4";
  std::ifstream file(clip_, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 2'000; ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
  }
  std::ofstream(damaged, std::ios::binary) << bytes;
  auto video = host_->OpenVideo(damaged, Options("")).value();
  bool failed = false;
  for (size_t i = 0; i < 2 * kFrames; ++i) {
    const auto frame = video.Next();
    if (frame && !*frame) break;
    if (frame) continue;
    EXPECT_EQ(frame.error().code(), Code::kBadInput) << frame.error();
    failed = true;
  }
  EXPECT_TRUE(failed);
  EXPECT_FALSE(video.recovery().failover);
  EXPECT_TRUE(recoveries_.empty());
}

TEST_F(FailoverTest, TheOptionIsCheckedAtOpen) {
  if (clip_.empty()) return;
  const auto open = [&](const std::string& on_failure) {
    VideoOptions options = Options("");
    options.on_failure = on_failure;
    return host_->OpenVideo(clip_, options);
  };
  const auto unknown = open("nonesuch");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), Code::kNotFound);
  EXPECT_THAT(unknown.error().message(), HasSubstr("on_failure"));
  for (const char* const same : {"chaos", "chaos:0", "chaos/chaos:0"}) {
    const auto refused = open(same);
    ASSERT_FALSE(refused) << same;
    EXPECT_EQ(refused.error().code(), Code::kInvalidArgument) << same;
  }
  EXPECT_EQ(open("not a name").error().code(), Code::kInvalidArgument);
  // The other device is not started before it is needed.
  ASSERT_TRUE(open("openreg:1"));
  for (const BackendInfo& backend : host_->Backends().value().backends) {
    EXPECT_TRUE(backend.name != "openreg" || backend.zygote_pid == 0);
  }
}

TEST_F(FailoverTest, IfBothFailTheErrorHasBothCauses) {
  if (clip_.empty()) return;
  // A stream's own script goes to no other backend, so that the file's counts.
  NewHost("at=picture:30720 do=segfault");
  VideoOptions options = Options("");
  options.device = "openreg";
  options.on_failure = "chaos";
  options.backend_options = {};
  auto video = host_->OpenVideo(clip_, options).value();
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(video.Next().value());
  ASSERT_TRUE(host_->Disable("openreg").ok());
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  Status last;
  size_t frames = 5;
  for (; last.ok(); ++frames) {
    const auto frame = video.Next();
    if (!frame) last = frame.error();
  }
  EXPECT_EQ(frames, kFatal + 1);
  EXPECT_EQ(last.code(), Code::kPoisonedInput);
  EXPECT_THAT(last.message(),
              AllOf(HasSubstr("signal 11"), HasSubstr("on_failure"),
                    HasSubstr("openreg:0 failed"), HasSubstr("disabled")));
  // Frames that were decoded ahead of the SIGKILL are delivered.
  EXPECT_GE(video.recovery().failover->frame, 5u);
  EXPECT_LT(video.recovery().failover->frame, 20u);
  EXPECT_EQ(video.recovery().failover->proof, Proof::kSame);
  // Another call that fails is the same trouble.
  EXPECT_FALSE(video.Next());
  const Event event = The(Event::Kind::kFailoverFailed);
  EXPECT_EQ(event.backend, "openreg");
  EXPECT_EQ(event.device, "openreg:0");
  EXPECT_THAT(event.text, HasSubstr(last.message()));
  EXPECT_EQ(Running("openreg").failovers, 1u);
  EXPECT_EQ(Running("openreg").failed_failovers, 1u);
}

TEST_F(FailoverTest, ADeviceThatFailsBeforeItsFirstFrameIsTold) {
  if (clip_.empty()) return;
  ASSERT_TRUE(host_->Disable("cpu").ok());
  const auto video = host_->OpenVideo(clip_, Options("at=open do=segfault"));
  ASSERT_FALSE(video);
  const Event event = The(Event::Kind::kFailoverFailed);
  EXPECT_EQ(CountOf(Event::Kind::kFailover), 0);
  EXPECT_EQ(event.backend, "chaos");
  EXPECT_EQ(event.text,
            "a stream failed on both devices: " + video.error().ToString());
  EXPECT_EQ(Running("chaos").failovers, 0u);
  EXPECT_EQ(Running("chaos").failed_failovers, 1u);
}

TEST_F(FailoverTest, TheChangeCanBeCancelled) {
  if (clip_.empty()) return;
  // The second worker of the stream is the first one of the other device.
  NewHost("at=open do=hang lives=2");
  VideoOptions options = Options("");
  options.device = "openreg";
  options.on_failure = "chaos";
  options.backend_options = {};
  auto video = host_->OpenVideo(clip_, options).value();
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(video.Next().value());
  ASSERT_TRUE(host_->Disable("openreg").ok());
  ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
  std::thread cancelling([&] {
    EXPECT_TRUE(AwaitHeld(host_->supervisor_pid(), kSoon));
    video.Cancel();
  });
  size_t delivered = 5;
  auto frame = video.Next();
  // Frames that were decoded ahead of the SIGKILL are delivered.
  for (; frame && *frame; frame = video.Next()) ++delivered;
  cancelling.join();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), Code::kCancelled) << frame.error();
  // The stream is there already, and the next call goes on.
  EXPECT_EQ(HashesOfRest(video), ExpectedFrom(delivered));
  EXPECT_EQ(video.recovery().failover->proof, Proof::kSame);
  EXPECT_EQ(recoveries_.size(), 1u);
}

TEST_F(FailoverTest, SoundGoesOnWithTheSamplesOfOneDevice) {
  const std::string path = MakeAudio("sound.mkv", {"-c:a", "pcm_s16le"}, 10);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const auto expected =
      host_->OpenAudio(path, {.device = "cpu"})->AllSamples().value().data;
  AudioOptions options = ChaosInstallation::AudioStream(
      "at=picture:0 do=flip\nat=packet:350 do=segfault");
  options.on_failure = "cpu";
  auto audio = host_->OpenAudio(path, options).value();
  const auto samples = audio.AllSamples();
  ASSERT_TRUE(samples) << samples.error();
  EXPECT_EQ(samples->data, expected);
  EXPECT_EQ(audio.metadata().device, "cpu:0");
  const auto failover = audio.recovery().failover;
  ASSERT_TRUE(failover);
  EXPECT_EQ(failover->proof, Proof::kNone);
  EXPECT_GT(failover->frame, 0u) << failover->text;
  EXPECT_THAT(failover->text, HasSubstr("sample"));
}

TEST_F(FailoverTest, TheCommandTells) {
  if (clip_.empty()) return;
  installation_.SetFaults(kDies);
  const auto result = RunProgram(
      {PathFromEnvironment("BULKHEAD_TEST_CLI"), "decode", "--device", "chaos",
       "--on-failure", "cpu", "--format", "null", "--json", clip_},
      {.environment = {{"BULKHEAD_PATH", installation_.path()},
                       {"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("\"to\": \"cpu:0\""), HasSubstr("\"frame\": 60"),
                    HasSubstr("\"proof\": \"same\"")));
  EXPECT_THAT(result.errors, AllOf(HasSubstr("device chaos:0 failed"),
                                   HasSubstr("goes on on cpu:0 at frame 60")));
}

}  // namespace
}  // namespace bulkhead::tests
