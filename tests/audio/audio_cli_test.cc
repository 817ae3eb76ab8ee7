// SPDX-License-Identifier: Apache-2.0
// Tests `bulkhead decode --audio`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/audio/audio_files.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class AudioCli : public testing::Test {
 protected:
  void SetUp() override {
    path_ = MakeAudio("tone.m4a", {"-c:a", "aac"}, 20);
    if (path_.empty()) GTEST_SKIP() << "there is no ffmpeg on this machine";
  }

  ProgramResult Decode(std::vector<std::string> arguments) {
    arguments.insert(
        arguments.begin(),
        {PathFromEnvironment("BULKHEAD_TEST_CLI"), "decode", "--audio"});
    return RunProgram(
        arguments,
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}});
  }

  static std::string Bytes(const std::vector<float>& samples) {
    return {reinterpret_cast<const char*>(samples.data()),
            samples.size() * sizeof(float)};
  }

  std::string path_;
};

TEST_F(AudioCli, RawFloatsAreThoseOfFfmpeg) {
  for (const char* device : {"cpu", "openreg"}) {
    const ProgramResult result =
        Decode({path_, "--device", device, "--format", "f32le", "-o", "-"});
    ASSERT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_TRUE(result.output == Bytes(SamplesByFfmpeg(path_))) << device;
  }
}

// The files have one to six channels, sound beside pictures, no sample, or no
// sound. tests/media:equals_ffmpeg_test compares the samples of all files.
TEST_F(AudioCli, RawFloatsOfSharedFilesAreThoseOfFfmpeg) {
  constexpr const char* kNames[] = {
      "/flac-test-files__41_-_6_channels_5.1_.flac",
      "/media__opus-5.1.mka",
      "/media__bbb_1ch_8kHz_aac_lc.aac",
      "/media__sample.avi",
      "/small__wav.wav",
      "/derived__mjpeg_avi.avi"};
  const auto files = SharedMedia();
  if (files.empty()) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  int compared = 0;
  for (const std::string& path : files) {
    if (std::none_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return path.ends_with(name); })) {
      continue;
    }
    const ProgramResult theirs =
        RunProgram({"ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-map",
                    "0:a:0", "-f", "f32le", "-"});
    for (const char* device : {"cpu", "openreg"}) {
      SCOPED_TRACE(path + " on " + device);
      const ProgramResult ours =
          Decode({path, "--device", device, "--format", "f32le", "-o", "-"});
      EXPECT_TRUE(ours.output == theirs.output)
          << ours.output.size() << " bytes, not " << theirs.output.size();
      EXPECT_EQ(ours.exit_code == 0, theirs.exit_code == 0);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 12);
}

TEST_F(AudioCli, StdinIsAnInput) {
  const ProgramResult result = RunProgram(
      {"sh", "-c",
       R"(cat "$CLIP" | "$CLI" decode - --audio --progress --format f32le)"},
      {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"CLI", PathFromEnvironment("BULKHEAD_TEST_CLI")},
                       {"CLIP", path_}}});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_TRUE(result.output == Bytes(SamplesByFfmpeg(path_)));
  EXPECT_NE(result.errors.find("20/20 seconds (100%)"), std::string::npos)
      << result.errors;
}

TEST_F(AudioCli, AWavFileIsReadBackByFfmpeg) {
  const std::string wav = TemporaryDirectory() + "/out.wav";
  const ProgramResult result =
      Decode({path_, "--sample-rate", "16000", "--channels", "1", "-o", wav});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  const auto expected = SamplesByFfmpeg(path_, {"-ar", "16000", "-ac", "1"});
  EXPECT_TRUE(Bytes(SamplesByFfmpeg(wav)) == Bytes(expected));
  EXPECT_EQ(std::filesystem::file_size(wav),
            44 + expected.size() * sizeof(float));
}

TEST_F(AudioCli, TimesBeforeTheSoundAreNamedAsAskedFor) {
  const std::string path = MakeAudio(
      "late.ogg", {"-c:a", "libvorbis", "-output_ts_offset", "3.5"}, 2);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  for (const auto& [times, told] :
       std::vector<std::pair<std::string, std::string>>{
           {"0:1", "no sample between 0.000000 s and 1.000000 s"},
           {":1", "no sample before 1.000000 s"}}) {
    const ProgramResult result =
        Decode({path, "--times", times, "--format", "f32le", "-o", "-"});
    EXPECT_EQ(result.exit_code, 2) << result.Describe();
    EXPECT_NE(result.errors.find(told + "; it begins at 3.5"),
              std::string::npos)
        << result.errors;
  }
  const ProgramResult result =
      Decode({path, "--times", "0:4", "--format", "f32le", "-o", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(result.output.size(), size_t{22050} * 2 * sizeof(float));
}

TEST_F(AudioCli, ASoundWithoutSamplesIsSound) {
  const std::string path = TemporaryDirectory() + "/nothing.wav";
  ASSERT_EQ(RunFfmpeg({"-i", path_, "-af", "atrim=end_sample=0", "-c:a",
                       "pcm_s16le", "-bitexact", path})
                .exit_code,
            0);
  for (const char* device : {"cpu", "openreg"}) {
    const ProgramResult result =
        Decode({path, "--device", device, "--format", "f32le", "-o", "-"});
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(AudioCli, TimesAreExact) {
  const auto whole = SamplesByFfmpeg(path_);
  const ProgramResult result =
      Decode({path_, "--times", "9.5:17.25", "--format", "f32le", "-o", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  const std::string all = Bytes(whole);
  const size_t frame = 2 * sizeof(float);
  const auto from = static_cast<size_t>(9.5 * 44100);
  const auto to = static_cast<size_t>(17.25 * 44100);
  EXPECT_TRUE(result.output == all.substr(from * frame, (to - from) * frame));
}

TEST_F(AudioCli, DamageIsAnErrorOrSilenceAndIsTold) {
  const auto sound = SamplesByFfmpeg(path_);
  std::string bytes = [this] {
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
              '\0');
  std::ofstream(path_, std::ios::binary) << bytes;
  const std::string out = TemporaryDirectory() + "/damaged.f32";
  const std::vector<std::string> to = {path_, "--format", "f32le",
                                       "-o",  out,        "--json"};
  const ProgramResult strict = Decode(to);
  EXPECT_EQ(strict.exit_code, 3) << strict.Describe();
  EXPECT_NE(strict.errors.find("--on-corrupt skip"), std::string::npos)
      << strict.errors;

  auto words = to;
  words.insert(words.end(), {"--on-corrupt", "skip"});
  const ProgramResult skipping = Decode(words);
  ASSERT_EQ(skipping.exit_code, 0) << skipping.Describe();
  EXPECT_EQ(std::filesystem::file_size(out), sound.size() * sizeof(float));
  for (const char* told : {"samples ", " are damaged, ", "; silence"}) {
    EXPECT_NE(skipping.errors.find(told), std::string::npos) << skipping.errors;
  }
  for (const char* told : {R"("first_sample": )", R"("on_corrupt": "skip")"}) {
    EXPECT_NE(skipping.output.find(told), std::string::npos) << skipping.output;
  }

  words.back() = "nearest";
  const ProgramResult nearest = Decode(words);
  EXPECT_EQ(nearest.exit_code, 2) << nearest.Describe();
}

TEST_F(AudioCli, WhatDoesNotGoTogetherIsRefused) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--format", "png"},
        {"--frames", "1:2"},
        {"--times", "2:1"},
        {"--sample-rate", "0"}}) {
    std::vector<std::string> arguments = {path_};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const ProgramResult result = Decode(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.Describe();
    EXPECT_EQ(result.output, "");
  }
}

}  // namespace
}  // namespace bulkhead::tests
