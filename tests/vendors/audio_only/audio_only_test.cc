// SPDX-License-Identifier: Apache-2.0
//
// A backend that decodes only audio is supported like any other, also by a
// reload.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kRate = 8000;
constexpr size_t kSamples = 20'000;
constexpr const char* kInfo = "/audio_only-1.0.dist-info";

void Append(std::string& out, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

int16_t SampleAt(size_t i) { return static_cast<int16_t>(i * 37); }

std::string WriteWave(const std::string& path) {
  std::string file = "RIFF";
  Append(file, 36 + 2 * kSamples, 4);
  file += "WAVEfmt ";
  for (const auto& [value, bytes] :
       std::vector<std::pair<uint32_t, int>>{{16, 4},
                                             {1, 2},
                                             {1, 2},
                                             {kRate, 4},
                                             {2 * kRate, 4},
                                             {2, 2},
                                             {16, 2}}) {
    Append(file, value, bytes);
  }
  file += "data";
  Append(file, 2 * kSamples, 4);
  for (size_t i = 0; i < kSamples; ++i) {
    Append(file, static_cast<uint16_t>(SampleAt(i)), 2);
  }
  std::ofstream(path, std::ios::binary) << file;
  return path;
}

class AudioOnly : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = TemporaryDirectory() + "/audio-only-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    path_ = fs::canonical(path);
    fs::copy(DistributionDirectory(), path_, fs::copy_options::recursive);
    // The sandbox runs under another uid and must be able to read the
    // directory.
    fs::permissions(path_, fs::perms(0755));
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      fs::permissions(entry.path(), fs::perms(0755));
    }
    std::ofstream(path_ + kInfo + "/RECORD", std::ios::app)
        << "audio_only/broken,,\n";
    std::ofstream(path_ + "/audio_only/broken") << "";
    wave_ = WriteWave(path_ + "/wave.wav");
    HostOptions options;
    options.plugin_path = {path_};
    options.autoload = true;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }
  void TearDown() override {
    host_.reset();
    fs::remove_all(path_);
  }

  BackendInfo Info() const {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "audio_only") return backend;
    }
    return {};
  }

  void ExpectDecodes() const {
    auto audio = host_->OpenAudio(wave_, {.device = "audio_only"});
    ASSERT_TRUE(audio) << audio.error();
    const auto samples = audio->AllSamples();
    ASSERT_TRUE(samples) << samples.error();
    ASSERT_EQ(samples->count(), kSamples);
    for (size_t i = 0; i < kSamples; ++i) {
      ASSERT_EQ(samples->data[i], static_cast<float>(SampleAt(i)) / 32768)
          << "sample " << i;
    }
  }

  std::string path_;
  std::string wave_;
  std::unique_ptr<Host> host_;
};

TEST_F(AudioOnly, DecodesWhatItSaysAndNothingElse) {
  ExpectDecodes();
  const auto video = host_->OpenVideo(wave_, {.device = "audio_only"});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kUnsupported) << video.error();
  EXPECT_THAT(Info().streams, ElementsAre("audio"));
}

TEST_F(AudioOnly, IsReloaded) {
  ExpectDecodes();
  const int zygote = Info().zygote_pid;
  const Status reloaded = host_->Reload("audio_only");
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_NE(Info().zygote_pid, zygote);
  ExpectDecodes();
}

TEST_F(AudioOnly, IsRolledBackWhereTheNewOneHearsNothing) {
  ExpectDecodes();
  const int zygote = Info().zygote_pid;
  std::ofstream(path_ + "/audio_only/broken") << "yes";
  const Status refused = host_->Reload("audio_only");
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("built-in clip"));
  EXPECT_THAT(refused.message(),
              HasSubstr("this release of the chip's driver is broken"));
  EXPECT_EQ(Info().zygote_pid, zygote);
  ExpectDecodes();
}

TEST_F(AudioOnly, IsListedWithItsStreams) {
  const auto run = [this](std::vector<std::string> more) {
    std::vector<std::string> command = {
        PathFromEnvironment("BULKHEAD_TEST_CLI"),
        "--libexec",
        LibexecDirectory(),
        "--plugin-path",
        path_,
        "backends"};
    command.insert(command.end(), more.begin(), more.end());
    return RunProgram(command);
  };
  const ProgramResult text = run({});
  EXPECT_EQ(text.exit_code, 0) << text.Describe();
  EXPECT_THAT(text.output + text.errors, HasSubstr("streams       audio\n"));
  const ProgramResult json = run({"--json"});
  EXPECT_EQ(json.exit_code, 0) << json.Describe();
  std::string words;
  for (const char c : json.output) {
    if (c != ' ' && c != '\n') words += c;
  }
  EXPECT_THAT(words, HasSubstr(R"("streams":["audio"])"));
}

}  // namespace
}  // namespace bulkhead::tests
