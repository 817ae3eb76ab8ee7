// SPDX-License-Identifier: Apache-2.0
//
// HostOptions::shadow: what a second decoder finds out about a backend, and
// that the application notices nothing of it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/conformance/own_clip.h"
#include "tests/conformance/wrong_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/media/sample_files.h"
#include "tests/shadow/shadowing.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Kind = Event::Kind;

HostOptions Options() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.state_directory = "";
  options.plugin_path = {{LibexecDirectory() + "/backends"}};
  options.grants = GrantsOfReservedNames();
  return options;
}

HostOptions Wrong(const std::string& wrong) {
  HostOptions options = Options();
  options.plugin_path->push_back(InstallWrong(wrong));
  return options;
}

// Returns the path of a clip of 160x120 with as many frames, or an empty text
// after it has skipped the test.
std::string LongClip(int frames) {
  const std::string path =
      TemporaryDirectory() + "/" + std::to_string(frames) + ".mp4";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=size=160x120:rate=50",
                 "-frames:v", std::to_string(frames), "-c:v", "libx264",
                 "-preset", "veryfast", "-pix_fmt", "yuv420p", path})
          .exit_code == 0) {
    return path;
  }
  [] { GTEST_SKIP() << "no ffmpeg with libx264 on this machine"; }();
  return "";
}

TEST(Shadow, ALieInOnePercentOfTheFramesIsCaught) {
  constexpr size_t kFrames = 1'000;
  const std::string clip = LongClip(kFrames);
  if (clip.empty()) return;
  const ClipOfABackend own = MakeOwnClip();
  if (own.path.empty()) return;
  HostOptions options = Wrong("lies_in_one_percent");
  BringClip(options.plugin_path->back(), own);
  std::vector<std::string> alone;
  {
    auto host = Host::Create(options).value();
    alone = DecodeAll(*host, clip, {.device = "wrong"});
  }
  options.shadow = {.against = "cpu", .share = 1};
  auto host = Host::Create(options).value();
  Events events;
  // The caller gets the backend's frames, wrong or not.
  EXPECT_EQ(DecodeInStep(*host, "wrong", clip, {.device = "wrong"}), alone);
  const Event closed = events.Await(Kind::kShadowClosed, 1).at(0);
  const Event differs = events.Await(Kind::kShadowDiffers, 1).at(0);
  const Event trial = events.Await(Kind::kTrial, 1).at(0);
  EXPECT_NE(differs.text.find("differ in its picture"), std::string::npos)
      << differs.text;
  EXPECT_EQ(differs.device, "wrong:0");
  EXPECT_EQ(trial.state, "passed");
  EXPECT_NE(trial.text.find("passed the trial"), std::string::npos)
      << trial.text;

  const BackendInfo info = InfoOf(*host, "wrong");
  EXPECT_EQ(info.shadow.streams, 1u);
  EXPECT_EQ(info.shadow.failed, 0u) << info.shadow.last_failure;
  EXPECT_EQ(info.shadow.compared + info.shadow.not_compared, kFrames);
  EXPECT_EQ(info.shadow.not_compared, 0u) << closed.text;
  EXPECT_GE(info.shadow.differing, 3u);
  EXPECT_LE(info.shadow.differing, 30u);
  ASSERT_TRUE(info.shadow.first);
  EXPECT_EQ(info.shadow.first->path, clip);
  EXPECT_EQ(info.shadow.first->compared, info.shadow.first->frame + 1);
  std::cout << "a lie in 1% of the frames was caught after "
            << info.shadow.first->compared << " frames; of "
            << info.shadow.compared << ", " << info.shadow.differing
            << " differ\n";
  // It passed the trial: a file could have been the cause.
  EXPECT_EQ(info.state, "ready");
  EXPECT_EQ(info.shadow.trials, 1u);
  EXPECT_EQ(info.shadow.failed_trials, 0u);
  EXPECT_EQ(DecodeAll(*host, clip, {.device = "wrong"}), alone);

  const RunningHosts running =
      FindRunningHosts(std::chrono::milliseconds(0)).value();
  // An ordinary user's tests see each other.
  const auto mine = std::find_if(
      running.hosts.begin(), running.hosts.end(),
      [](const RunningHost& running) { return running.pid == getpid(); });
  ASSERT_NE(mine, running.hosts.end());
  for (const RunningBackend& backend : mine->backends) {
    EXPECT_EQ(backend.shadow.streams, backend.name == "wrong" ? 2u : 0u);
  }
}

struct FailingTrial {
  const char* wrong;
  const char* words;
};

void PrintTo(const FailingTrial& row, std::ostream* stream) {
  *stream << row.wrong;
}

class Trial : public testing::TestWithParam<FailingTrial> {};

TEST_P(Trial, ABackendThatFailsItIsTreatedAsOneThatFails) {
  const std::string clip = LongClip(1'000);
  if (clip.empty()) return;
  const ClipOfABackend own = MakeOwnClip();
  if (own.path.empty()) return;
  HostOptions options = Wrong(GetParam().wrong);
  BringClip(options.plugin_path->back(), own);
  options.shadow = {.against = "cpu", .share = 1};
  options.limits.failures_per_backend = 1;
  auto host = Host::Create(options).value();
  Events events;
  EXPECT_EQ(DecodeAll(*host, clip, {.device = "wrong"}).size(), 1'000u);
  const Event trial = events.Await(Kind::kTrial, 1).at(0);
  EXPECT_EQ(trial.state, "failed");
  EXPECT_NE(trial.text.find("failed the trial"), std::string::npos)
      << trial.text;
  EXPECT_NE(trial.text.find(GetParam().words), std::string::npos) << trial.text;
  const BackendInfo info = InfoOf(*host, "wrong");
  EXPECT_EQ(info.state, "quarantined");
  EXPECT_NE(info.reason.find("its pictures differed from those of cpu"),
            std::string::npos)
      << info.reason;
  EXPECT_EQ(info.shadow.failed_trials, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Fails, Trial,
    testing::Values(
        FailingTrial{"lies_and_fails_small_clips",
                     "it did not decode Bulkhead's built-in clip: "},
        FailingTrial{"lies_in_the_built_in_clip",
                     "it did not decode Bulkhead's built-in clip: frame 0 is "
                     "not the picture that cpu gives"},
        FailingTrial{"lies_in_its_own_clip",
                     "it did not decode its own clip "
                     "\"bulkhead_wrong-0.1.0.dist-info/own.mkv\": frame 5 is "
                     "not the picture that bulkhead.toml gives"}),
    [](const auto& info) { return std::string(info.param.wrong); });

TEST(Shadow, AClipThatAnUpgradeRemovedIsLeftOutOfTheTrial) {
  const std::string clip = LongClip(1'000);
  if (clip.empty()) return;
  const ClipOfABackend own = MakeOwnClip();
  if (own.path.empty()) return;
  HostOptions options = Wrong("lies_in_its_own_clip");
  const std::string installation = options.plugin_path->back();
  BringClip(installation, own);
  options.shadow = {.against = "cpu", .share = 1};
  auto host = Host::Create(options).value();
  const Status ready = host->Prewarm("wrong");
  ASSERT_TRUE(ready.ok()) << ready;
  ASSERT_TRUE(std::filesystem::remove(DistInfo(installation) + "/own.mkv"));
  Events events;
  EXPECT_EQ(DecodeAll(*host, clip, {.device = "wrong"}).size(), 1'000u);
  const Event trial = events.Await(Kind::kTrial, 1).at(0);
  EXPECT_EQ(trial.state, "passed");
  EXPECT_NE(trial.text.find("passed the trial"), std::string::npos)
      << trial.text;
}

TEST(Shadow, HonestBackendsDoNotDiffer) {
  HostOptions options = Options();
  options.shadow = {.against = "openreg", .share = 1};
  auto host = Host::Create(options).value();
  Events events;
  size_t streams = 0;
  size_t frames = 0;
  for (const Clip clip : AllClips()) {
    const std::string path = ClipOrSkip(clip);
    if (path.empty()) return;
    const VideoOptions variants[] = {
        {.device = "cpu"},
        {.device = "cpu", .threads = 4, .on_corrupt = OnCorrupt::kShow},
        {.device = "cpu",
         .output_dtype = OutputDtype::kFloat32,
         .transforms = {RandomCrop{.height = 64, .width = 80, .seed = 3}}}};
    for (const VideoOptions& variant : variants) {
      frames += DecodeInStep(*host, "cpu", path, variant).size();
      ++streams;
    }
  }
  for (const Event& closed : events.Await(Kind::kShadowClosed, streams)) {
    EXPECT_NE(closed.text.find(", 0 differ, 0 not compared"), std::string::npos)
        << closed.text;
  }
  const ShadowReport report = InfoOf(*host, "cpu").shadow;
  EXPECT_EQ(report.streams, streams);
  EXPECT_EQ(report.failed, 0u) << report.last_failure;
  EXPECT_EQ(report.compared, frames);
  EXPECT_EQ(report.trials, 0u);
}

// Decodes the rest of the stream and goes on after damage.
void DecodeOn(VideoDecoder& video) {
  for (auto frame = video.Next(); !frame || *frame; frame = video.Next()) {
    if (!frame && frame.error().code() != Code::kBadInput) return;
  }
}

// One of three tests, so that each shard has one: they take minutes.
class NoSampleFile : public testing::TestWithParam<OnCorrupt> {};

TEST_P(NoSampleFile, RaisesAFalseAlarm) {
  if (MediaFiles().empty()) GTEST_SKIP() << WhyNoSamples();
  HostOptions options = Options();
  options.shadow = {.against = "openreg", .share = 1};
  auto host = Host::Create(options).value();
  Events events;
  size_t streams = 0;
  for (const SampleFile& file : MediaFiles()) {
    {
      auto video = host->OpenVideo(file.path,
                                   {.device = "cpu", .on_corrupt = GetParam()});
      if (!video) continue;
      DecodeOn(*video);
      // And by index, where the shadow is past most of it.
      if (const auto count = video->FrameCount(); count && *count > 0) {
        (void)video->FrameAt(-1);
        (void)video->FrameAt(0);
      }
      ++streams;
    }
    for (const Event& closed : events.Await(Kind::kShadowClosed, streams)) {
      ASSERT_NE(closed.text.find(", 0 differ, "), std::string::npos)
          << closed.text;
    }
  }
  const ShadowReport report = InfoOf(*host, "cpu").shadow;
  std::cout << report.streams << " streams, of which " << report.failed
            << " not to their end; " << report.compared << " frames compared, "
            << report.not_compared << " not\n";
  EXPECT_EQ(report.streams, streams);
  EXPECT_EQ(report.differing, 0u);
  EXPECT_GT(report.compared, 10 * report.not_compared);
}

INSTANTIATE_TEST_SUITE_P(OnCorrupt, NoSampleFile,
                         testing::Values(OnCorrupt::kError, OnCorrupt::kSkip,
                                         OnCorrupt::kShow));

TEST(Shadow, FramesByIndexAreCompared) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options = Options();
  options.shadow = {.against = "openreg", .share = 1};
  auto host = Host::Create(options).value();
  Events events;
  {
    auto video = host->OpenVideo(clip).value();
    EXPECT_EQ(video.FramesInRange(10, 100, 10).value().size(), 9u);
    EXPECT_TRUE(video.FrameAt(119).has_value());
    EXPECT_TRUE(video.FrameAt(3).has_value());  // goes back
  }
  const Event closed = events.Await(Kind::kShadowClosed, 1).at(0);
  EXPECT_NE(closed.text.find("10 frames compared with openreg, 0 differ, 1 not "
                             "compared"),
            std::string::npos)
      << closed.text;
}

// Waits until bulkheadd has read of so many frames that they are not compared.
void AwaitNotCompared(Host& host, const std::string& backend, uint64_t frames) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (;;) {
    const ShadowReport report = InfoOf(host, backend).shadow;
    if (report.not_compared == frames && report.compared == 0) return;
    if (std::chrono::steady_clock::now() > end) {
      FAIL() << report.not_compared << " not compared, " << report.compared
             << " compared";
    }
    std::this_thread::yield();
  }
}

struct Failing {
  const char* what;
  const char* wrong;
  const char* against;
  const char* words;
};

class FailingShadow : public testing::TestWithParam<Failing> {};

TEST_P(FailingShadow, ChangesNothingAndIsTold) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options = Wrong(GetParam().wrong);
  // bound: of a shadow that hangs. The stream itself needs a hundredth of it.
  options.deadlines.seek = options.deadlines.frame = options.deadlines.open =
      std::chrono::milliseconds(5'000);
  std::vector<std::string> alone;
  {
    auto host = Host::Create(options).value();
    alone = DecodeAll(*host, clip, {.device = "cpu"});
  }
  options.shadow = {.against = GetParam().against, .share = 1};
  auto host = Host::Create(options).value();
  Events events;
  EXPECT_EQ(DecodeAll(*host, clip, {.device = "cpu"}), alone);
  const Event closed = events.Await(Kind::kShadowClosed, 1).at(0);
  EXPECT_NE(closed.text.find(GetParam().words), std::string::npos)
      << closed.text;
  const BackendInfo info = InfoOf(*host, "cpu");
  EXPECT_EQ(info.shadow.streams, 1u);
  EXPECT_EQ(info.shadow.failed, 1u);
  EXPECT_NE(info.shadow.last_failure.find(GetParam().words), std::string::npos)
      << info.shadow.last_failure;
  EXPECT_EQ(info.shadow.differing, 0u);
  EXPECT_EQ(info.shadow.compared + info.shadow.not_compared, alone.size());
  EXPECT_GT(info.shadow.not_compared, 50u);
  EXPECT_EQ(info.state, "ready");
  EXPECT_EQ(info.shadow.trials, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, FailingShadow,
    testing::Values(Failing{"dies", "crashes", "wrong", "its process died: "},
                    Failing{"exits", "exits", "wrong", "its process died: "},
                    Failing{"hangs", "sleeps", "wrong", "too long"},
                    Failing{"never_ready", "never_ready", "wrong", ""},
                    Failing{"no_such_index", "nothing", "wrong:7", "wrong:7"},
                    Failing{"not_loaded", "no_table", "wrong",
                            "Failed to load"}),
    [](const auto& info) { return std::string(info.param.what); });

TEST(Shadow, WhatCannotHaveAShadowIsTold) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options = Options();
  options.shadow = {.against = "openreg", .share = 1};
  auto host = Host::Create(options).value();
  Events events;
  std::ifstream file(clip, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto reader = Source::FromReader(
      {.read = [&](uint64_t offset,
                   std::span<std::byte> out) -> Result<size_t> {
         const size_t count =
             std::min<size_t>(out.size(), bytes.size() - offset);
         std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()) + offset,
                     count, out.begin());
         return count;
       },
       .bytes = bytes.size()},
      "clip.mp4");
  {
    auto video = host->OpenVideo(reader.value()).value();
    EXPECT_EQ(HashesOfRest(video).size(), 120u);
  }
  const Event closed = events.Await(Kind::kShadowClosed, 1).at(0);
  EXPECT_NE(closed.text.find("clip.mp4: not compared: the media come from a "
                             "reader"),
            std::string::npos)
      << closed.text;
  EXPECT_EQ(InfoOf(*host, "cpu").shadow.failed, 1u);
  AwaitNotCompared(*host, "cpu", 120);
  auto video = host->OpenVideo(clip, {.device = "openreg"}).value();
  EXPECT_NE(events.Await(Kind::kShadowClosed, 2)
                .at(1)
                .text.find("it is on device openreg:0, with which"),
            std::string::npos);
  EXPECT_EQ(HashesOfRest(video).size(), 120u);
  AwaitNotCompared(*host, "openreg", 120);
}

TEST(Shadow, FramesOfStreamsThatWereNotDrawnAreNotCounted) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options = Options();
  options.shadow = {.against = "openreg", .share = 0};
  auto host = Host::Create(options).value();
  EXPECT_EQ(DecodeAll(*host, clip, {.device = "cpu"}).size(), 120u);
  const ShadowReport report = InfoOf(*host, "cpu").shadow;
  EXPECT_EQ(report.streams, 0u);
  EXPECT_EQ(report.compared + report.not_compared, 0u);
}

TEST(Shadow, ADeviceThatIsNotThereIsToldAtTheFirstUse) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options = Options();
  // So small a share that no stream is drawn.
  options.shadow = {.against = "wrong", .share = 1e-18};
  auto host = Host::Create(options).value();
  for (int i = 0; i < 2; ++i) {
    const auto video = host->OpenVideo(clip);
    ASSERT_FALSE(video);
    EXPECT_EQ(video.error().code(), Code::kNotFound) << video.error();
    EXPECT_NE(video.error().message().find("option shadow.against"),
              std::string::npos)
        << video.error();
    EXPECT_NE(video.error().message().find("wrong"), std::string::npos)
        << video.error();
  }
  ASSERT_TRUE(host->LoadBackend(InstallWrong("nothing")));
  EXPECT_TRUE(host->OpenVideo(clip));
}

TEST(Shadow, AShareOfTheStreamsIsCompared) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options = Options();
  options.shadow = {.against = "openreg", .share = 0.5};
  auto host = Host::Create(options).value();
  Events events;
  for (int i = 0; i < 40; ++i) {
    auto video = host->OpenVideo(clip).value();
    EXPECT_TRUE(video.Next().value());
  }
  // One in 10^12 runs draws all of them or none.
  const uint64_t streams = InfoOf(*host, "cpu").shadow.streams;
  EXPECT_GT(streams, 0u);
  EXPECT_LT(streams, 40u);
  events.Await(Kind::kShadowClosed, streams);
  const ShadowReport report = InfoOf(*host, "cpu").shadow;
  EXPECT_EQ(report.compared + report.not_compared,
            report.streams - report.failed);
  EXPECT_EQ(report.differing, 0u);
}

TEST(Shadow, WithAShareOfNothingThereIsNoOtherProcess) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  const auto processes = [&clip](double share) {
    HostOptions options = Options();
    // A device of the same backend, so that only a worker is added.
    options.default_device = "openreg:1";
    options.shadow = {.against = "openreg:0", .share = share};
    auto host = Host::Create(options).value();
    Events events;
    auto video = host->OpenVideo(clip).value();
    EXPECT_EQ(HashesOfRest(video).size(), 120u);
    EXPECT_EQ(InfoOf(*host, "openreg").shadow.streams, share > 0 ? 1u : 0u);
    // A frame is compared once the worker is there.
    while (share > 0 && InfoOf(*host, "openreg").shadow.compared == 0) {
      std::this_thread::yield();
    }
    return DescendantsOf(host->supervisor_pid()).size();
  };
  const size_t without = processes(0);
  EXPECT_EQ(processes(1), without + 1);
}

}  // namespace
}  // namespace bulkhead::tests
