// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead replay` repeats what led to a recorded crash, and says whether the
// backend ended in the same way.

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "bulkhead/crashes.h"
#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/crashes/crash_test.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Kind = ExitReport::Kind;
using Asked = Crash::Request::Kind;

class Replays : public CrashTest {
 protected:
  // Replays the first of the three crashes of a refused input, and expects that
  // the backend crashes again in the same way. Returns the records of the first
  // crash and of the replay's, or nothing if there are not four records.
  std::vector<Crash> ReplayOfRefusal() const {
    const ProgramResult again = Cli({"replay", "1"});
    EXPECT_EQ(again.exit_code, 4) << again.Describe();
    EXPECT_THAT(again.output, HasSubstr("crashed again, in the same way"));
    EXPECT_THAT(again.errors, Not(HasSubstr("warning")));
    const std::vector<Crash> records = Records();
    EXPECT_EQ(records.size(), 4u);
    if (records.size() != 4) return {};
    return {records[0], records[3]};
  }
};

TEST_F(Replays, ARefusedInputNamesItsRecordAndReplayReproducesIt) {
  const auto host = NewHost();
  const VideoOptions options = installation_.Stream("at=packet:7 do=segfault");
  for (int i = 0; i < 2; ++i) {
    // The first Play() makes the input poisoned, so the second is refused.
    const Status status = Play(*host, clip_, options);
    EXPECT_EQ(status.code(), Code::kPoisonedInput) << status;
    EXPECT_THAT(status.message(), HasSubstr("see `bulkhead crashes show 3`"));
    ASSERT_TRUE(status.exit_report());
    EXPECT_EQ(status.exit_report()->crash, 3u);
  }
  ASSERT_EQ(Records().size(), 3u);
  EXPECT_EQ(Records()[2].attempt, 3u);
  EXPECT_EQ(Records()[2].outcome, "kPoisonedInput");

  const ProgramResult list = Cli({"crashes"});
  EXPECT_EQ(list.exit_code, 0) << list.Describe();
  EXPECT_THAT(list.output, HasSubstr("worker of chaos:0 (backend chaos): it "
                                     "was ended by signal 11"));
  const ProgramResult shown = Cli({"crashes", "show", "3"});
  EXPECT_EQ(shown.exit_code, 0) << shown.Describe();
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("what the process said itself, which need not be "
                              "true"),
                    HasSubstr("libbulkhead_chaos.so"), HasSubstr(clip_),
                    HasSubstr("the call failed: poisoned input")));
  const ProgramResult json =
      Cli({"crashes", "show", "3", "--json", "--with-media-text"});
  EXPECT_THAT(json.output, HasSubstr("\"claimed\": {"));
  EXPECT_EQ(Cli({"crashes", "show", "77"}).exit_code, 2);

  const ProgramResult again = Cli({"replay", "3"});
  EXPECT_EQ(again.exit_code, 4) << again.Describe();
  EXPECT_THAT(again.output, HasSubstr("crashed again, in the same way"));
  EXPECT_THAT(again.output, HasSubstr("see `bulkhead crashes show 4`"));
  EXPECT_THAT(again.errors, Not(HasSubstr("warning")));

  EXPECT_EQ(Cli({"crashes", "clear"}).exit_code, 0);
  EXPECT_TRUE(Records().empty());
}

TEST_F(Replays, AReplayWithAnotherObjectSaysSo) {
  const auto host = NewHost();
  EXPECT_TRUE(Play(*host, clip_,
                   installation_.Stream("at=packet:7 do=segfault lives=1"))
                  .ok());
  const ChaosInstallation other;
  const ProgramResult again =
      Cli({"--plugin-path", other.path(), "replay", "1"});
  EXPECT_THAT(again.errors,
              AllOf(HasSubstr("warning: it is replayed with " + other.path()),
                    HasSubstr("but it was " + installation_.path())));
}

// The record has the directory, so the variable is not needed any more.
TEST_F(Replays, AReplayUsesTheDirectoryThatAVariableNamed) {
  installation_.SetFaults("at=packet:7 do=segfault");
  const ProgramResult crashed = RunProgram(
      {PathFromEnvironment("BULKHEAD_TEST_CLI"), "decode", clip_, "--device",
       "chaos", "--format", "null"},
      {.environment = {{"BULKHEAD_STATE_DIR", state_},
                       {"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"BULKHEAD_ADD_PATH", installation_.path()}}});
  EXPECT_EQ(crashed.exit_code, 3) << crashed.Describe();
  ASSERT_FALSE(Records().empty());
  const Crash::Backend backend = Records()[0].backend;
  EXPECT_EQ(backend.directory, installation_.path());
  const ProgramResult again = Cli({"replay", "1"});
  EXPECT_EQ(again.exit_code, 4) << again.Describe();
  EXPECT_THAT(again.output, HasSubstr("crashed again, in the same way"));
  EXPECT_THAT(again.errors, Not(HasSubstr("warning")));

  // Another object of the same size and time, by a byte that no loader reads.
  const auto time = fs::last_write_time(backend.file);
  std::fstream object(backend.file,
                      std::ios::binary | std::ios::in | std::ios::out);
  object.seekp(offsetof(Elf64_Ehdr, e_shstrndx));
  object.put('\x7f');
  object.close();
  fs::last_write_time(backend.file, time);
  EXPECT_THAT(Cli({"replay", "1"}).errors,
              HasSubstr("warning: the backend's file " + backend.file +
                        " has changed since; the one that crashed had " +
                        backend.hash));

  fs::remove_all(installation_.path());
  const ProgramResult gone = Cli({"replay", "1"});
  EXPECT_EQ(gone.exit_code, 2) << gone.Describe();
  EXPECT_THAT(gone.errors, AllOf(HasSubstr("neither in " + backend.directory),
                                 HasSubstr("BULKHEAD_ADD_PATH=DIR")));
}

TEST_F(Replays, WhatToDoWithDamageIsOnRecordAndReplayed) {
  for (const OnCorrupt on_corrupt : {OnCorrupt::kError, OnCorrupt::kSkip,
                                     OnCorrupt::kNearest, OnCorrupt::kShow}) {
    fs::remove_all(state_);
    VideoOptions options = installation_.Stream("at=packet:7 do=segfault");
    options.on_corrupt = on_corrupt;
    const auto host = NewHost();
    EXPECT_EQ(Play(*host, clip_, options).code(), Code::kPoisonedInput);
    for (const Crash& crash : ReplayOfRefusal()) {
      EXPECT_EQ(crash.request.on_corrupt, on_corrupt);
    }
  }
  EXPECT_THAT(Cli({"crashes", "show", "1"}).output,
              ContainsRegex("on corrupt +show"));
}

TEST_F(Replays, WhatFramesWereToBeIsOnRecordAndReplayed) {
  VideoOptions options = installation_.Stream("at=packet:7 do=segfault");
  options.output_dtype = OutputDtype::kFloat32;
  options.transforms = {
      Resize{.height = 64, .width = 80, .filter = Resize::Filter::kArea},
      RandomCrop{.height = 32, .width = 40, .seed = UINT64_MAX},
      Crop{.top = 1, .left = 2, .height = 16, .width = 20},
      CenterCrop{.height = 8, .width = 10}};
  const auto host = NewHost();
  EXPECT_EQ(Play(*host, clip_, options).code(), Code::kPoisonedInput);
  for (const Crash& crash : ReplayOfRefusal()) {
    EXPECT_FALSE(crash.request.audio);
    EXPECT_EQ(crash.request.output_dtype, OutputDtype::kFloat32);
    ASSERT_EQ(crash.request.transforms.size(), 4u);
    const auto& resize = std::get<Resize>(crash.request.transforms[0]);
    EXPECT_EQ(resize.height, 64u);
    EXPECT_EQ(resize.width, 80u);
    EXPECT_EQ(resize.filter, Resize::Filter::kArea);
    const auto& random = std::get<RandomCrop>(crash.request.transforms[1]);
    EXPECT_EQ(random.height, 32u);
    EXPECT_EQ(random.width, 40u);
    EXPECT_EQ(random.seed, UINT64_MAX);
    const auto& crop = std::get<Crop>(crash.request.transforms[2]);
    EXPECT_EQ(crop.top, 1u);
    EXPECT_EQ(crop.left, 2u);
    EXPECT_EQ(crop.height, 16u);
    EXPECT_EQ(crop.width, 20u);
    const auto& center = std::get<CenterCrop>(crash.request.transforms[3]);
    EXPECT_EQ(center.height, 8u);
    EXPECT_EQ(center.width, 10u);
  }
  const ProgramResult shown = Cli({"crashes", "show", "1"});
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("float32"), HasSubstr("random-crop")));
}

TEST_F(Replays, WhatAudioWasAskedForIsOnRecordAndReplayed) {
  const std::string sine = TemporaryDirectory() + "/sine.mkv";
  // The packets have 1024 samples, which is 128 ms.
  const ProgramResult made =
      RunFfmpeg({"-f", "lavfi", "-i", "sine=sample_rate=8000:duration=4",
                 "-c:a", "pcm_s16le", sine});
  ASSERT_EQ(made.exit_code, 0) << made.Describe();
  AudioOptions options =
      installation_.AudioStream("at=picture:1280 do=segfault");
  options.num_channels = 2;
  const auto host = NewHost();
  AudioDecoder audio = host->OpenAudio(sine, options).value();
  EXPECT_EQ(audio.AllSamples().error().code(), Code::kPoisonedInput);
  for (const Crash& crash : ReplayOfRefusal()) {
    EXPECT_TRUE(crash.request.audio);
    EXPECT_EQ(crash.request.kind, Asked::kFrameAt);
    EXPECT_EQ(crash.request.frame, 10'240u);
    EXPECT_EQ(crash.request.num_channels, 2);
    EXPECT_EQ(crash.request.sample_rate, std::nullopt);
    EXPECT_EQ(crash.request.backend_options, options.backend_options);
    EXPECT_TRUE(crash.request.complete);
  }
  const ProgramResult shown = Cli({"crashes", "show", "1"});
  EXPECT_THAT(shown.output, AllOf(HasSubstr("sample 10240"),
                                  HasSubstr("rate of the stream, channels 2")));
}

TEST_F(Replays, AReplayThatGoesWellOrOtherwiseSaysSo) {
  const std::string copy = TemporaryDirectory() + "/copy.webm";
  fs::copy_file(clip_, copy, fs::copy_options::overwrite_existing);
  const auto host = NewHost();
  EXPECT_TRUE(Play(*host, copy,
                   installation_.Stream("at=packet:7 do=exit:7 lives=1\n"
                                        "at=packet:7 do=segfault lives=2"))
                  .ok());
  ASSERT_EQ(Records().size(), 2u);
  // The replay is the stream's first life, in which the other fault happens.
  const ProgramResult other = Cli({"replay", "2"});
  EXPECT_EQ(other.exit_code, 4) << other.Describe();
  EXPECT_THAT(other.output, HasSubstr("crashed again, in another way"));

  installation_.SetFaults("at=packet:7 do=segfault");
  const auto second = NewHost();
  EXPECT_EQ(Play(*second, copy, installation_.Stream()).code(),
            Code::kPoisonedInput);
  const uint64_t number = Records().back().number;
  // A replay with a repaired backend and a modified file.
  installation_.SetFaults("");
  fs::last_write_time(copy, fs::file_time_type::clock::now());
  const ProgramResult well = Cli({"replay", std::to_string(number)});
  EXPECT_EQ(well.exit_code, 0) << well.Describe();
  EXPECT_THAT(well.output, HasSubstr("it did not crash this time"));
  EXPECT_THAT(well.errors, HasSubstr(copy + " has changed since"));
}

TEST_F(Replays, AReplayOfAQuarantinedBackendSaysWhatToDo) {
  installation_.SetFaults("at=load do=segfault");
  HostOptions options = Recording(installation_.options());
  options.limits.failures_per_backend = 1;
  const auto host = Host::Create(options).value();
  EXPECT_FALSE(host->Prewarm("chaos").ok());
  const auto recorded = [&] {
    for (const auto& entry : fs::directory_iterator(state_)) {
      if (entry.path().filename().string().starts_with("quarantine-")) {
        return true;
      }
    }
    return false;
  };
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(60'000);
  while (!recorded() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  installation_.SetFaults("");
  const ProgramResult refused = Cli({"replay", "1"});
  EXPECT_EQ(refused.exit_code, 4) << refused.Describe();
  EXPECT_THAT(refused.errors, HasSubstr("--despite-quarantine"));
  const ProgramResult well = Cli({"replay", "1", "--despite-quarantine"});
  EXPECT_EQ(well.exit_code, 0) << well.Describe();
}

}  // namespace
}  // namespace bulkhead::tests
