// SPDX-License-Identifier: Apache-2.0
// Damages single packets of audio files, and cuts the files off: a packet that
// the decoder rejects becomes silence of its length, at its place, and calls
// say what is lost.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// A packet of a file, without what the container puts around it.
struct PacketBytes {
  size_t offset = 0;
  size_t size = 0;
};

// Finds a packet in the middle of the file, or returns one without bytes.
PacketBytes MiddlePacket(const std::string& path) {
  const std::string raw = TemporaryDirectory() + "/packets";
  if (RunFfmpeg({"-i", path, "-map", "0:a:0", "-c", "copy", "-f", "data", raw})
          .exit_code != 0) {
    return {};
  }
  const auto listed =
      RunProgram({"ffprobe", "-v", "error", "-select_streams", "a:0",
                  "-show_entries", "packet=size", "-of", "csv=p=0", path});
  std::istringstream lines(listed.output);
  std::vector<size_t> sizes;
  for (std::string line; std::getline(lines, line);) {
    // Packets with side data have further lines.
    const bool is_size = !line.empty() && line[0] >= '0' && line[0] <= '9';
    if (is_size) sizes.push_back(std::stoul(line));
  }
  if (sizes.empty()) return {};
  const size_t middle = sizes.size() / 2;
  size_t rest = 0;
  for (size_t i = middle; i < sizes.size(); ++i) rest += sizes[i];
  const std::string packets = ReadBytes(raw);
  if (rest > packets.size()) return {};
  const std::string packet =
      packets.substr(packets.size() - rest, sizes[middle]);
  const size_t offset = ReadBytes(path).find(packet);
  if (offset == std::string::npos) return {};
  return {offset, packet.size()};
}

struct Rejected {
  const char* name;
  std::vector<std::string> encoding;
  int fill;           // the bytes that the decoder rejects; -1: flips some bits
  size_t header = 0;  // the bytes to leave as they are
  bool is_exact = true;  // the number of samples is no estimate
};

// The parsers of raw streams do not say where a packet is.
bool HasPositions(const Rejected& kind) {
  return !std::string(kind.name).starts_with("raw.");
}

TEST_F(AudioDamage, ARejectedPacketIsSilenceOfItsLengthAtItsPlace) {
  const std::vector<std::string> flac = {"-c:a", "flac", "-strict", "-2"};
  for (const Rejected& kind : std::vector<Rejected>{
           {"aac.m4a", {"-c:a", "aac"}, 0},
           {"aac.mka", {"-c:a", "aac"}, 0},
           {"aac.flv", {"-c:a", "aac"}, 0},
           {"raw.aac", {"-c:a", "aac"}, 0, 7},
           {"opus.mp4", {"-ar", "48000", "-c:a", "libopus"}, 0xff},
           {"vorbis.mka", {"-c:a", "libvorbis"}, 0xff, 0, false},
           {"ac3.mka", {"-ar", "48000", "-c:a", "ac3"}, 0},
           {"flac.mka", flac, -1},
           {"flac.mp4", flac, -1},
           {"raw.flac", flac, -1},
           {"raw.tta", {"-c:a", "tta"}, -1},
           {"raw.wv", {"-c:a", "wavpack"}, -1}}) {
    SCOPED_TRACE(kind.name);
    const std::string path = MakeAudio(kind.name, kind.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    AudioDecoder intact = Open(path, OnCorrupt::kError).value();
    const AudioSamples sound = intact.AllSamples().value();
    const PacketBytes packet = MiddlePacket(path);
    ASSERT_GT(packet.size, kind.header + 16);
    std::string bytes = ReadBytes(path);
    if (kind.fill >= 0) {
      std::fill_n(
          bytes.begin() + static_cast<ptrdiff_t>(packet.offset + kind.header),
          packet.size - kind.header, static_cast<char>(kind.fill));
    } else {
      for (size_t i = 0; i < 8; ++i) {
        bytes[packet.offset + packet.size / 2 + i] ^= 0x10;
      }
    }
    WriteBytes(path, bytes);

    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const AudioSamples whole = audio.AllSamples().value();
    const auto damage = DamageOf(audio);
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_TRUE(!kind.is_exact || !damage[0].estimated);
    EXPECT_NEAR(static_cast<double>(whole.count()),
                static_cast<double>(sound.count()), kind.is_exact ? 0 : 100);
    EXPECT_NE(damage[0].backend_says, "");
    if (HasPositions(kind)) {
      const auto offset = static_cast<int64_t>(packet.offset);
      EXPECT_LE(damage[0].first_byte.value_or(-1), offset);
      EXPECT_GT(damage[0].first_byte.value_or(-1), offset - 1000);
    }
    // Up to the damage, nothing differs.
    const size_t first = damage[0].first_sample;
    EXPECT_TRUE(Same(PartOf(whole, 0, first), PartOf(sound, 0, first)));
    EXPECT_NEAR(static_cast<double>(first),
                static_cast<double>(sound.count()) / 2,
                static_cast<double>(sound.count()) / 5);
    if (kind.fill >= 0) {
      // What follows is what ffmpeg decodes.
      EXPECT_TRUE(Same(WithoutDamage(whole, damage), SamplesByFfmpeg(path)));
    } else {
      // Of lossless sound, it is what the intact file has.
      const size_t after = first + damage[0].samples;
      EXPECT_TRUE(Same(PartOf(whole, after, whole.count()),
                       PartOf(sound, after, sound.count())));
    }
    ExpectRanges(path, 1);
  }
}

// Where the header says how much the file should have, its end is not lost
// without a word.
TEST_F(AudioDamage, AFileThatIsCutOffSaysSo) {
  struct Kind {
    const char* name;
    std::vector<std::string> encoding;
    const char* told = "cut off, it needs ";
  };
  for (const Kind& kind : std::vector<Kind>{
           {"cut_flac.mkv", {"-c:a", "flac"}},
           {"cut_opus.webm", {"-c:a", "libopus"}},
           {"cut_aac.mp4", {"-c:a", "aac", "-movflags", "+faststart"}},
           {"cut_rf64.wav", {"-c:a", "pcm_s16le", "-rf64", "always"}},
           {"cut.wav", {"-c:a", "pcm_s16le"}},
           {"cut.flac", {"-c:a", "flac"}, "cut off, its header says "}}) {
    SCOPED_TRACE(kind.name);
    const std::string path = MakeAudio(kind.name, kind.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const size_t sound = SamplesByFfmpeg(path).size() / 2;
    const std::string bytes = ReadBytes(path);
    WriteBytes(path, bytes.substr(0, bytes.size() * 6 / 10 + 100));
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const AudioSamples whole = audio.AllSamples().value();
    const auto damage = DamageOf(audio);
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_EQ(damage[0].first_sample + damage[0].samples, whole.count());
    EXPECT_NEAR(static_cast<double>(whole.count()), static_cast<double>(sound),
                2100);
    const auto refused = Open(path, OnCorrupt::kError)->AllSamples();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find(kind.told), std::string::npos)
        << refused.error();
  }
}

class AudioDamageOn : public AudioDamage,
                      public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    AudioDamage::SetUp();
    device_ = GetParam();
  }
  // Makes a file of AAC in which some packets are zeroed.
  static std::string MakeDamaged(const std::string& name) {
    const std::string path = MakeAudio(name, {"-c:a", "aac"}, 3);
    std::string bytes = path.empty() ? "" : ReadBytes(path);
    if (bytes.size() < 20'000) return "";
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
                '\0');
    WriteBytes(path, bytes);
    return path;
  }
};

TEST_P(AudioDamageOn, ALostPacketIsAnErrorOrSilence) {
  const std::string path = MakeDamaged("lost.m4a");
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  const auto refused = strict.AllSamples();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
  const std::string message = refused.error().message();
  for (const char* told :
       {"lost.m4a: samples ", " s, byte ", " says: \"", "on_corrupt"}) {
    EXPECT_NE(message.find(told), std::string::npos) << message;
  }
  const auto damage = DamageOf(strict);
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample % 1024, 0u);
  EXPECT_EQ(damage[0].samples % 1024, 0u);
  const auto middle =
      static_cast<int64_t>(std::filesystem::file_size(path)) / 2;
  EXPECT_GE(*damage[0].first_byte, middle - 1000);
  EXPECT_LE(*damage[0].last_byte, middle + 5000);

  // The samples before and after the damage can be had.
  const size_t end = damage[0].first_sample + damage[0].samples;
  AudioDecoder skipping = Open(path, OnCorrupt::kSkip).value();
  const AudioSamples whole = skipping.AllSamples().value();
  const AudioSamples after = Range(strict, end, end + 5000).value();
  EXPECT_TRUE(Same(Interleaved(after), PartOf(whole, end, end + 5000)));
  ASSERT_EQ(::kill(strict.worker_pid(), SIGKILL), 0);
  EXPECT_FALSE(Range(strict, end - 1, end + 1));
  EXPECT_TRUE(Range(strict, end, end + 1));
  ASSERT_EQ(DamageOf(strict).size(), 1u);
  EXPECT_EQ(DamageOf(strict)[0].samples, damage[0].samples);
}

TEST_P(AudioDamageOn, ResamplingKeepsTheTimeline) {
  const std::string path = MakeDamaged("resampled.m4a");
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  AudioDecoder audio = Open(path, OnCorrupt::kSkip, 16000).value();
  const AudioSamples resampled = audio.AllSamples().value();
  const auto at_16000 = DamageOf(audio);
  AudioDecoder own = Open(path, OnCorrupt::kSkip).value();
  const AudioSamples whole = own.AllSamples().value();
  EXPECT_NEAR(resampled.duration_seconds, whole.duration_seconds, 1e-3);
  const auto at_own_rate = DamageOf(own);
  ASSERT_EQ(at_16000.size(), at_own_rate.size());
  for (size_t i = 0; i < at_16000.size(); ++i) {
    EXPECT_NEAR(at_16000[i].begin_seconds, at_own_rate[i].begin_seconds, 1e-4);
    EXPECT_NEAR(at_16000[i].end_seconds, at_own_rate[i].end_seconds, 1e-4);
  }
}

// Samples that an earlier call had are missing in a later one.
TEST_P(AudioDamageOn, AFileThatShrinksHasDamageAtItsEnd) {
  for (const auto& [name, codec] : {std::pair{"shrinks.wav", "pcm_s16le"},
                                    std::pair{"shrinks.mp3", "libmp3lame"},
                                    std::pair{"shrinks.flac", "flac"}}) {
    SCOPED_TRACE(name);
    const std::string path = MakeAudio(name, {"-c:a", codec}, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    AudioDecoder strict = Open(path, OnCorrupt::kError).value();
    const size_t count = audio.AllSamples().value().count();
    ASSERT_EQ(strict.AllSamples().value().count(), count);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const AudioSamples again = audio.AllSamples().value();
    EXPECT_EQ(again.count(), count);
    const auto damage = DamageOf(audio);
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_EQ(damage[0].first_sample + damage[0].samples, count);
    EXPECT_NEAR(static_cast<double>(damage[0].samples),
                static_cast<double>(count) / 2, static_cast<double>(count) / 5);
    const auto refused = strict.AllSamples();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
    EXPECT_NE(refused.error().message().find("has become shorter"),
              std::string::npos)
        << refused.error();
  }
}

// Nothing is known of it but its header.
TEST_P(AudioDamageOn, AFileThatShrinksBeforeItIsReadHasTheLengthOfItsHeader) {
  const std::string path = MakeAudio("first.flac", {"-c:a", "flac"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  ASSERT_TRUE(Range(audio, 0, 1000));
  // After the headers, within the first frame.
  std::filesystem::resize_file(path, 9000);
  const auto whole = audio.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_EQ(whole->count(), size_t{3} * 44100);
  const auto damage = DamageOf(audio);
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample, 0u);
  EXPECT_EQ(damage[0].samples, whole->count());
}

INSTANTIATE_TEST_SUITE_P(Backends, AudioDamageOn,
                         testing::Values("cpu", "openreg:1"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
