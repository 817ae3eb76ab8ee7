// SPDX-License-Identifier: Apache-2.0
// Tests AudioDecoder end to end, on every backend of this repository: the
// samples are the same whatever happens to the workers. That they are
// ffmpeg's, and ranges parts of the whole, is tested by
// tests/media:equals_ffmpeg_test.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "bulkhead/host.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::unique_ptr<Host> NewHost() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  return Host::Create(options).value();
}

class AudioDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = MakeAudio("tone.flac", {"-c:a", "flac", "-sample_fmt", "s16"});
    if (path_.empty()) GTEST_SKIP() << "there is no ffmpeg on this machine";
    host_ = NewHost();
  }

  AudioDecoder Open(const std::string& path, AudioOptions options = {}) {
    return host_->OpenAudio(path, std::move(options)).value();
  }

  std::string path_;
  std::unique_ptr<Host> host_;
};

class OnDevice : public AudioDecoderTest,
                 public testing::WithParamInterface<const char*> {};

TEST_P(OnDevice, AWorkerThatIsKilledInMidStreamCostsNothing) {
  const std::string path =
      MakeAudio("long.m4a", {"-c:a", "aac", "-b:a", "64k"}, 120);
  const AudioSamples whole =
      Open(path, {.device = GetParam()}).AllSamples().value();
  // The worker may have finished before the kill, so the test tries again.
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::atomic<int> recoveries = 0;
    AudioDecoder audio = Open(
        path, {.device = GetParam(),
               .recovery_observer = [&](const Recovery&) { ++recoveries; }});
    const pid_t worker = audio.worker_pid();
    std::atomic<bool> over = false;
    std::thread killer([worker, &over] {
      const std::string status = "/proc/" + std::to_string(worker) + "/stat";
      const auto used = [&status] {
        std::ifstream file(status);
        std::string field;
        // Field 14 is the time in user mode, in hundredths of a second.
        for (int i = 0; i < 14 && file >> field; ++i) {
        }
        return std::atol(field.c_str());
      };
      const long before = used();
      // The whole clip takes 30 ms of an idle machine.
      while (used() == before && !over) std::this_thread::yield();
      kill(worker, SIGKILL);
    });
    const auto all = audio.AllSamples();
    over = true;
    killer.join();
    ASSERT_TRUE(all) << all.error();
    ASSERT_TRUE(Same(all->data, whole.data));
    if (recoveries == 0) continue;
    EXPECT_GE(audio.recovery().restarts, 1u);
    return;
  }
  FAIL() << "it was always done before";
}

TEST_P(OnDevice, AWorkerThatIsKilledBetweenTwoRangesCostsNothing) {
  AudioDecoder audio = Open(path_, {.device = GetParam()});
  const AudioSamples whole = audio.AllSamples().value();
  (void)audio.SamplesPlayedInRange(0, 1).value();
  ASSERT_EQ(kill(audio.worker_pid(), SIGKILL), 0);
  const AudioSamples second = audio.SamplesPlayedInRange(1, 2).value();
  EXPECT_TRUE(Same(Interleaved(second), PartOf(whole, 44100, 88200)));
  EXPECT_EQ(audio.recovery().restarts, 1u);
}

INSTANTIATE_TEST_SUITE_P(Backends, OnDevice,
                         testing::Values("cpu", "openreg:1"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 3);
                         });

TEST_F(AudioDecoderTest, ABackendWithoutAudioNamesThoseThatHaveIt) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_add_path = {DistributionDirectory()};
  const auto host = Host::Create(options).value();
  const auto audio = host->OpenAudio(path_, {.device = "cvendor"});
  ASSERT_FALSE(audio);
  EXPECT_EQ(audio.error().code(), Code::kUnsupported) << audio.error();
  for (const char* device : {"cpu", "openreg"}) {
    EXPECT_NE(audio.error().message().find(device), std::string::npos)
        << audio.error();
  }
}

}  // namespace
}  // namespace bulkhead::tests
