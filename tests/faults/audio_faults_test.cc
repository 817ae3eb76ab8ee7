// SPDX-License-Identifier: Apache-2.0
//
// Audio streams survive the deaths of their workers as video streams do, and
// fail after the same number of attempts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/support/deadlines.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The clip is a sine with packets of 1024 samples (128 ms). The timestamp of a
// packet is the number of its first sample.
constexpr int kRate = 8000;
constexpr size_t kSamples = size_t{4} * kRate;
constexpr size_t kFatal = 10 * 1024;
constexpr const char* kAtFatal = "at=picture:1280 ";

class AudioFaults : public testing::Test {
 protected:
  void SetUp() override {
    path_ = TemporaryDirectory() + "/sine.mkv";
    const ProgramResult made = RunFfmpeg(
        {"-f", "lavfi", "-i", "sine=frequency=440:sample_rate=8000:duration=4",
         "-c:a", "pcm_s16le", path_});
    if (!made.started) GTEST_SKIP() << "no ffmpeg on this machine";
    ASSERT_EQ(made.exit_code, 0) << made.Describe();
    NewHost(PatientDeadlines().frame);
    expected_ = Open("").AllSamples().value().data;
    ASSERT_EQ(expected_.size(), kSamples);
  }

  void NewHost(milliseconds frame_deadline) {
    HostOptions options = installation_.options();
    options.deadlines.frame = frame_deadline;
    host_ = Host::Create(options).value();
  }

  AudioDecoder Open(const std::string& fault) {
    AudioOptions options = ChaosInstallation::AudioStream(
        fault.empty() ? fault : kAtFatal + fault);
    options.recovery_observer = [this](const Recovery& recovery) {
      recoveries_.push_back(recovery);
    };
    return host_->OpenAudio(path_, options).value();
  }

  static std::vector<float> Part(const std::vector<float>& whole, size_t begin,
                                 size_t end) {
    return {whole.begin() + static_cast<ptrdiff_t>(begin),
            whole.begin() + static_cast<ptrdiff_t>(end)};
  }

  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string path_;
  std::vector<float> expected_;
  std::vector<Recovery> recoveries_;
};

TEST_F(AudioFaults, DeathsThatEndLeaveNoTrace) {
  for (const char* death : {"do=segfault lives=1-2", "do=abort lives=1-2",
                            "do=exit:0 lives=1-2", "do=throw lives=1-2"}) {
    AudioDecoder audio = Open(death);
    const auto samples = audio.AllSamples();
    ASSERT_TRUE(samples) << death << ": " << samples.error();
    EXPECT_EQ(samples->data, expected_) << death;
    EXPECT_EQ(audio.recovery().restarts, 2u) << death;
    ASSERT_EQ(recoveries_.size(), 1u) << death;
    EXPECT_EQ(recoveries_[0].attempts, 2u) << death;
    EXPECT_EQ(recoveries_[0].cause.position,
              path_ + ", at sample " + std::to_string(kFatal))
        << death;
    recoveries_.clear();
  }
}

TEST_F(AudioFaults, ASampleThatKilledThreeWorkersIsRefusedWithoutAnother) {
  AudioDecoder first = Open("do=segfault");
  const Status end = first.AllSamples().error();
  EXPECT_EQ(end.code(), Code::kPoisonedInput) << end;
  EXPECT_THAT(end.message(),
              AllOf(HasSubstr("at sample 10240"), HasSubstr("3 attempts"),
                    HasSubstr("signal 11"), HasSubstr(path_)));
  ASSERT_NE(end.exit_report(), nullptr);
  EXPECT_EQ(end.exit_report()->kind, ExitReport::Kind::kSignaled);
  EXPECT_EQ(end.exit_report()->value, 11);
  EXPECT_EQ(first.recovery().restarts, 3u);
  EXPECT_TRUE(recoveries_.empty());

  AudioDecoder second = Open("do=segfault");
  const Status refused = second.AllSamples().error();
  EXPECT_EQ(refused.code(), Code::kPoisonedInput) << refused;
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("at sample 10240 and is not tried"),
                    HasSubstr("3 workers")));
  EXPECT_EQ(second.recovery().restarts, 0u);

  // Both sessions decode the samples before the fault as usual.
  for (AudioDecoder* audio : {&first, &second}) {
    const auto before =
        audio->SamplesPlayedInRange(0, static_cast<double>(kFatal) / kRate);
    ASSERT_TRUE(before) << before.error();
    EXPECT_EQ(before->data, Part(expected_, 0, kFatal));
  }
  // With other options the file is another input, which is not refused.
  EXPECT_EQ(Open("").AllSamples().value().data, expected_);
}

TEST_F(AudioFaults, AWorkerThatHangsEachTimeIsGivenUp) {
  NewHost(kShort);
  AudioDecoder audio = Open("do=hang");
  const Status end = audio.AllSamples().error();
  EXPECT_EQ(end.code(), Code::kDeadlineExceeded) << end;
  EXPECT_THAT(end.message(),
              AllOf(HasSubstr("at sample 10240"), HasSubstr("3 attempts"),
                    HasSubstr("the deadline frame (--limit frame-ms=N)")));
  ASSERT_NE(end.exit_report(), nullptr);
  EXPECT_EQ(end.exit_report()->kind, ExitReport::Kind::kDeadline);
  EXPECT_EQ(audio.recovery().restarts, 3u);
}

TEST_F(AudioFaults, AStreamThatCannotBeOpenedCostsNoFurtherWorker) {
  const auto open = [this] {
    return host_->OpenAudio(
        path_, ChaosInstallation::AudioStream("at=open do=segfault"));
  };
  const auto first = open();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code(), Code::kPoisonedInput) << first.error();
  EXPECT_THAT(first.error().message(), HasSubstr("after 3 attempts"));
  const auto again = open();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kPoisonedInput) << again.error();
  EXPECT_THAT(again.error().message(),
              HasSubstr("while opening and is not tried"));
}

}  // namespace
}  // namespace bulkhead::tests
