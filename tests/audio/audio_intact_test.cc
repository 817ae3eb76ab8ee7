// SPDX-License-Identifier: Apache-2.0
// Reads sound files with unusual pages, timestamps, lengths and ends: the
// samples are those that ffmpeg decodes, and what it plays without a word has
// no damage.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The offsets of the pages of an Ogg file.
std::vector<size_t> OggPagesOf(const std::string& bytes) {
  std::vector<size_t> pages;
  for (size_t at = 0; (at = bytes.find("OggS", at)) != bytes.npos; ++at) {
    pages.push_back(at);
  }
  return pages;
}

class IntactAudio : public AudioDamage {
 protected:
  // Writes the file and expects that it is read as ffmpeg reads it.
  void Expect(const std::string& name, const std::string& bytes) {
    const std::string path = TemporaryDirectory() + "/" + name;
    WriteBytes(path, bytes);
    ExpectAsFfmpeg(path);
  }
};

// Recordings of broadcasts have their headers from elsewhere, chained files
// have several streams, and pages may be missing or torn.
TEST_F(IntactAudio, PagesOfOgg) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"pages.ogg", {"-c:a", "libvorbis"}},
           {"pages.opus", {"-ar", "48000", "-c:a", "libopus"}},
           {"pages.oga", {"-c:a", "flac"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 5);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const std::string bytes = ReadBytes(path);
    const std::vector<size_t> pages = OggPagesOf(bytes);
    ASSERT_GT(pages.size(), 5u);
    const size_t middle = pages[pages.size() / 2];
    const size_t next = pages[pages.size() / 2 + 1];
    const std::pair<const char*, std::string> files[] = {
        {"joined", bytes + bytes},
        {"with a tag", bytes + "TAG" + std::string(125, ' ')},
        {"without a page", bytes.substr(0, middle) + bytes.substr(next)},
        {"cut off within a page", bytes.substr(0, next - 1000)},
        {"cut off within the last one", bytes.substr(0, bytes.size() - 9)},
    };
    for (const auto& [name, file] : files) {
      SCOPED_TRACE(std::string(sound.name) + ", " + name);
      Expect("file_" + std::string(sound.name), file);
    }
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{
             {"-ss", "1.3"}, {"-copyts", "-ss", "1.3"}, {"-t", "2.2"}}) {
      SCOPED_TRACE(std::string(sound.name) + ", a part");
      const std::string part =
          TemporaryDirectory() + "/part_" + std::string(sound.name);
      std::vector<std::string> arguments = options;
      arguments.insert(arguments.end(), {"-i", path, "-c", "copy", part});
      ASSERT_EQ(RunFfmpeg(arguments).exit_code, 0);
      ExpectAsFfmpeg(part);
      std::filesystem::remove(part);
    }
  }
}

// A short sound has one page, which says what to leave out at its end.
TEST_F(IntactAudio, ShortSounds) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"short.ogg", {"-c:a", "libvorbis"}},
           {"short.opus", {"-ar", "48000", "-c:a", "libopus"}},
           {"short.oga", {"-c:a", "flac"}},
           {"short.aptx", {"-ar", "48000", "-c:a", "aptx"}}}) {
    for (const double seconds : {0.02, 0.1, 0.33, 1.017}) {
      SCOPED_TRACE(std::string(sound.name) + ", " + std::to_string(seconds));
      const std::string path = MakeAudio(sound.name, sound.encoding, seconds);
      if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
      ExpectAsFfmpeg(path);
    }
  }
}

// A recording begins and ends anywhere, and parts of several are joined.
TEST_F(IntactAudio, PartsAndJoinedParts) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"parts_aac.ts", {"-c:a", "aac"}},
           {"parts_mp2.ts", {"-c:a", "mp2"}},
           {"parts_mp2.mpg", {"-ar", "48000", "-c:a", "mp2"}},
           {"parts.mp3", {"-c:a", "libmp3lame"}},
           {"parts.aac", {"-c:a", "aac"}},
           {"parts.eac3", {"-ar", "48000", "-c:a", "eac3"}},
           {"parts.dts", {"-ar", "48000", "-strict", "-2", "-c:a", "dca"}},
           {"parts.thd", {"-ar", "48000", "-strict", "-2", "-c:a", "truehd"}},
           {"parts_mp3.flv", {"-c:a", "libmp3lame"}},
           {"parts.webm", {"-c:a", "libvorbis", "-live", "1"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const std::string bytes = ReadBytes(path);
    const size_t third = bytes.size() / 188 / 3 * 188;
    std::vector<std::pair<const char*, std::string>> files = {
        {"with zeroes after it", bytes + std::string(500, '\0')},
        {"cut off within a packet", bytes.substr(0, 2 * third + 70)},
    };
    const bool has_header = path.ends_with(".flv") || path.ends_with(".webm");
    if (!has_header) {
      const std::string tag = "TAG" + std::string(125, ' ');
      files.emplace_back("from a packet on", bytes.substr(third));
      files.emplace_back("from within a packet on", bytes.substr(third + 70));
      files.emplace_back("joined", bytes + bytes);
      files.emplace_back("with a tag between", bytes + tag + bytes);
    }
    for (const auto& [name, file] : files) {
      SCOPED_TRACE(std::string(sound.name) + ", " + name);
      Expect("part_" + std::string(sound.name), file);
    }
  }
}

// A copy of a part has the header of the whole.
TEST_F(IntactAudio, APartOfFlacIsWholeIfItsLastFrameIs) {
  const std::string path = MakeAudio("whole.flac", {"-c:a", "flac"}, 4);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const std::string part = TemporaryDirectory() + "/part.flac";
  ASSERT_EQ(RunFfmpeg({"-i", path, "-t", "2", "-c", "copy", part}).exit_code,
            0);
  ExpectAsFfmpeg(part);
  const std::string bytes = ReadBytes(part);
  WriteBytes(part, bytes.substr(0, bytes.size() - 9000));
  AudioDecoder torn = Open(part, OnCorrupt::kSkip).value();
  EXPECT_EQ(torn.AllSamples()->count(), SamplesByFfmpeg(path).size() / 2);
  ASSERT_EQ(DamageOf(torn).size(), 1u);
  EXPECT_FALSE(DamageOf(torn)[0].estimated);
}

// libavformat times a short block of Vorbis after a long one too late, and a
// copy keeps that; granules of Ogg are off in a copy.
TEST_F(IntactAudio, CopiesIntoOtherContainers) {
  const std::string folder = TemporaryDirectory() + "/";
  for (const char* codec : {"libvorbis", "libopus"}) {
    if (RunFfmpeg({"-f", "lavfi", "-i", "sine=beep_factor=4:duration=5", "-ar",
                   "48000", "-c:a", codec, folder + "beeps.ogg"})
            .exit_code != 0) {
      GTEST_SKIP() << "this machine's ffmpeg has no " << codec;
    }
    for (const auto& [from, to] :
         std::vector<std::pair<const char*, const char*>>{
             {"beeps.ogg", "beeps.mka"},
             {"beeps.ogg", "beeps.webm"},
             {"beeps.ogg", "beeps.mp4"},
             {"beeps.ogg", "beeps.nut"},
             {"beeps.webm", "again.ogg"}}) {
      SCOPED_TRACE(std::string(codec) + " in " + to);
      ASSERT_EQ(
          RunFfmpeg({"-i", folder + from, "-c", "copy", folder + to}).exit_code,
          0);
      ExpectAsFfmpeg(folder + to);
    }
  }
}

// Timestamps may jump, begin late, and be rounded.
TEST_F(IntactAudio, GapsInTheTimestamps) {
  for (const auto& [name, codec] :
       std::vector<std::pair<std::string, std::string>>{
           {"aac.ts", "aac"},
           {"ac3.m2ts", "ac3"},
           {"mp3.mka", "libmp3lame"},
           {"opus.webm", "libopus"},
           {"vorbis.mka", "libvorbis"},
           {"opus.ogg", "libopus"},
           {"aac.mp4", "aac"},
           {"aac.flv", "aac"},
           {"mp3.avi", "libmp3lame"}}) {
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{
             {"-bsf:a", "setts=ts=TS+gte(N\\,40)*0.7/TB"},
             {"-output_ts_offset", "1.3"}}) {
      SCOPED_TRACE(name + ", " + more[0]);
      std::vector<std::string> encoding = {"-ar", "48000", "-c:a", codec};
      encoding.insert(encoding.end(), more.begin(), more.end());
      const std::string path = MakeAudio("gap_" + name, encoding, 3);
      ASSERT_FALSE(path.empty());
      ExpectAsFfmpeg(path);
    }
  }
}

// libcodec2 draws its noise from one sequence of the process.
TEST_F(IntactAudio, ARangeOfCodec2ThatIsAskedForTwice) {
  const std::string path = MakeAudio(
      "again.c2",
      {"-ar", "8000", "-ac", "1", "-c:a", "libcodec2", "-mode", "2400"});
  if (path.empty()) GTEST_SKIP() << "this machine's ffmpeg has no codec2";
  const std::vector<float> expected = SamplesByFfmpeg(path);
  ASSERT_GT(expected.size(), 16'000u);
  auto audio = host_->OpenAudio(path);
  ASSERT_TRUE(audio) << audio.error();
  const double ranges[][2] = {{0.5, 1}, {0.5, 1}, {0, 0.25}, {1, 2}, {0, 2}};
  for (const auto& [start, stop] : ranges) {
    const auto samples = audio->SamplesPlayedInRange(start, stop);
    ASSERT_TRUE(samples) << samples.error();
    const auto at = [&](double seconds) {
      return expected.begin() + static_cast<std::ptrdiff_t>(8000 * seconds);
    };
    EXPECT_EQ(samples->data, std::vector<float>(at(start), at(stop))) << start;
  }
}

// Files that were refused once, though they are sound.
TEST_F(IntactAudio, UnusualSampleFiles) {
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  for (const char* name :
       {"opus_5_ms_frames.opus", "vorbis_10_ms.ogg", "rtp_gap.opus",
        "opus_webm_copied_to.ogg", "flac_ogg_copied_to.ogg",
        "vorbis_granule_times.webm"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string(shared) + "/unusual/" + name;
    ASSERT_TRUE(std::filesystem::exists(path));
    ExpectAsFfmpeg(path);
  }
}

}  // namespace
}  // namespace bulkhead::tests
