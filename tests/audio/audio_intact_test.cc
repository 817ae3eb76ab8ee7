// SPDX-License-Identifier: Apache-2.0
// Reads sound files with unusual pages, timestamps and lengths: they have no
// damage, and the samples are those that ffmpeg decodes.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// Changes numbers of a page, and its checksum with them.
void Renumber(std::string& page, uint64_t granule, uint32_t serial,
              uint32_t sequence) {
  const auto put = [&](size_t at, uint64_t value, size_t count) {
    for (size_t i = 0; i < count; ++i, value >>= 8) {
      page[at + i] = static_cast<char>(value & 0xff);
    }
  };
  put(6, granule, 8);
  put(14, serial, 4);
  put(18, sequence, 4);
  put(22, 0, 4);
  uint32_t sum = 0;
  for (const char byte : page) {
    sum ^= uint32_t{static_cast<uint8_t>(byte)} << 24;
    for (int bit = 0; bit < 8; ++bit) {
      sum = sum << 1 ^ ((sum >> 31) != 0 ? 0x04c11db7 : 0);
    }
  }
  put(22, sum, 4);
}

// Recordings of broadcasts have their headers from elsewhere, chained files
// have several streams, and numbers of pages begin anywhere.
TEST_F(AudioDamage, UnusualPagesOfOggAreNoDamage) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"pages.ogg", {"-c:a", "libvorbis"}},
           {"pages.opus", {"-ar", "48000", "-c:a", "libopus"}},
           {"pages.oga", {"-c:a", "flac"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const std::string bytes = ReadBytes(path);
    const std::vector<size_t> offsets = OggPagesOf(bytes);
    size_t headers = 0;
    while (OggGranuleOf(bytes, offsets[headers]) == 0) ++headers;
    // Returns the pages with other numbers, without those at the start of the
    // sound that are left out.
    const auto renumbered = [&](size_t left_out, uint64_t later,
                                uint32_t serial, uint32_t sequence,
                                uint32_t step) {
      std::string changed;
      for (size_t i = 0; i < offsets.size(); ++i) {
        if (i >= headers && i < headers + left_out) continue;
        const size_t end =
            i + 1 < offsets.size() ? offsets[i + 1] : bytes.size();
        std::string page = bytes.substr(offsets[i], end - offsets[i]);
        const bool is_header = i < headers;
        Renumber(page, OggGranuleOf(page, 0) + (is_header ? 0 : later), serial,
                 is_header ? static_cast<uint32_t>(i)
                           : sequence + static_cast<uint32_t>(i) * step);
        changed += page;
      }
      return changed;
    };
    const std::pair<const char*, std::string> files[] = {
        {"numbered from 7", renumbered(0, 0, 1, 7, 1)},
        {"not numbered", renumbered(0, 0, 1, 0, 0)},
        {"recorded from its middle", renumbered(2, 0, 1, 0, 1)},
        {"recorded after hours", renumbered(0, 1'000'000'000, 1, 50'000, 1)},
        {"chained", bytes + renumbered(0, 0, 2, 0, 1)},
        {"chained with the same number", bytes + bytes},
        {"chained later", bytes + renumbered(0, 1'000'000'000, 2, 50'000, 1)},
        {"with a tag", bytes + "TAG" + std::string(125, ' ')},
    };
    for (const auto& [name, file] : files) {
      SCOPED_TRACE(std::string(sound.name) + ", " + name);
      WriteBytes(path, file);
      AudioDecoder audio = Open(path, OnCorrupt::kError).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
    }
    WriteBytes(path, bytes);
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{
             {"-ss", "1.3"}, {"-copyts", "-ss", "1.3"}, {"-t", "2.2"}}) {
      const std::string part =
          TemporaryDirectory() + "/part_" + std::string(sound.name);
      std::vector<std::string> arguments = options;
      arguments.insert(arguments.end(), {"-i", path, "-c", "copy", part});
      ASSERT_EQ(RunFfmpeg(arguments).exit_code, 0);
      AudioDecoder audio = Open(part, OnCorrupt::kError).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(part)));
      std::filesystem::remove(part);
    }
  }
}

// A short sound has one page, which is the first and the last, and tells what
// to leave out at its end.
TEST_F(AudioDamage, ShortSoundsOfOggAreNoDamage) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"short.ogg", {"-c:a", "libvorbis"}},
           {"short.opus", {"-ar", "48000", "-c:a", "libopus"}},
           {"short.oga", {"-c:a", "flac"}}}) {
    for (const char* seconds : {"0.02", "0.1", "0.5", "1", "1.5"}) {
      SCOPED_TRACE(std::string(sound.name) + ", " + seconds + " s");
      const std::string path = TemporaryDirectory() + "/" + sound.name;
      std::vector<std::string> arguments = {
          "-f", "lavfi", "-i",
          std::string("sine=sample_rate=48000:duration=") + seconds};
      arguments.insert(arguments.end(), sound.encoding.begin(),
                       sound.encoding.end());
      arguments.push_back(path);
      if (RunFfmpeg(arguments).exit_code != 0) {
        GTEST_SKIP() << "no ffmpeg with this encoder on this machine";
      }
      AudioDecoder audio = Open(path, OnCorrupt::kError).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
      EXPECT_TRUE(audio.damage().empty());
    }
  }
}

// A recording of a broadcast begins anywhere, and parts of several are joined.
TEST_F(AudioDamage, PartsOfTransportStreamsAreNoDamage) {
  for (const EncodedSound& sound :
       std::vector<EncodedSound>{{"parts_aac.ts", {"-c:a", "aac"}},
                                 {"parts_mp2.ts", {"-c:a", "mp2"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    std::vector<std::string> later = sound.encoding;
    later.insert(later.end(), {"-output_ts_offset", "9"});
    const std::string bytes = ReadBytes(path);
    const std::string other =
        ReadBytes(MakeAudio("later_" + std::string(sound.name), later, 4));
    const size_t third = bytes.size() / 188 / 3 * 188;
    const std::pair<const char*, std::string> files[] = {
        {"from a packet on", bytes.substr(third)},
        {"from within a packet on", bytes.substr(third + 70)},
        {"joined", bytes + bytes},
        {"joined with a gap", bytes + other},
    };
    for (const auto& [name, file] : files) {
      SCOPED_TRACE(std::string(sound.name) + ", " + name);
      WriteBytes(path, file);
      const auto whole = Open(path, OnCorrupt::kError)->AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
    }
  }
}

// libavformat times a short block of Vorbis behind a long one too late, and a
// copy keeps that.
TEST_F(AudioDamage, CopiesOfVorbisFromOggAreNoDamage) {
  const std::string path = TemporaryDirectory() + "/beeps.ogg";
  if (RunFfmpeg({"-f", "lavfi", "-i", "sine=beep_factor=4:duration=5", "-c:a",
                 "libvorbis", path})
          .exit_code != 0) {
    GTEST_SKIP() << "this machine's ffmpeg has no libvorbis";
  }
  for (const char* name :
       {"beeps.mka", "beeps.webm", "beeps.mp4", "beeps.nut"}) {
    SCOPED_TRACE(name);
    const std::string copy = TemporaryDirectory() + "/" + name;
    ASSERT_EQ(RunFfmpeg({"-i", path, "-c", "copy", copy}).exit_code, 0);
    AudioDecoder audio = Open(copy, OnCorrupt::kError).value();
    const auto whole = audio.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(copy)));
  }
}

// The first packet of a part may begin within a frame.
TEST_F(AudioDamage, PartsOfProgramStreamsAreNoDamage) {
  for (const char* codec : {"mp2", "ac3"}) {
    const std::string path = TemporaryDirectory() + "/whole_" + codec + ".mpg";
    if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f",
                   "lavfi", "-i", "sine=sample_rate=48000", "-t", "4", "-c:v",
                   "mpeg2video", "-c:a", codec, path})
            .exit_code != 0) {
      GTEST_SKIP() << "no ffmpeg on this machine";
    }
    for (const char* start : {"0.53", "1.05", "1.63", "2.95"}) {
      SCOPED_TRACE(std::string(codec) + " from " + start + " s");
      const std::string part = TemporaryDirectory() + "/part.mpg";
      ASSERT_EQ(RunFfmpeg({"-y", "-ss", start, "-i", path, "-c", "copy", part})
                    .exit_code,
                0);
      AudioDecoder audio = Open(part, OnCorrupt::kError).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(part)));
    }
  }
}

// The table of packets may be behind them. It counts whole packets.
TEST_F(AudioDamage, BytesBehindThePacketsOfCafAreNoDamage) {
  const std::string path = MakeAudio("table.caf", {"-c:a", "alac"}, 61);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const std::string bytes = ReadBytes(path);
  for (const size_t zeroes : {0, 40'000}) {
    SCOPED_TRACE(zeroes);
    WriteBytes(path, bytes + std::string(zeroes, '\0'));
    AudioDecoder audio = Open(path, OnCorrupt::kError).value();
    const auto whole = audio.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
  }
}

// Zeroes behind the end of a file are no sound, and nothing is missing there.
TEST_F(AudioDamage, ZeroesBehindTheEndAreNoDamage) {
  const std::string path = TemporaryDirectory() + "/late_zeroes.flv";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i",
                       "testsrc2=size=160x120:rate=25:duration=2", "-itsoffset",
                       "0.2", "-f", "lavfi", "-i", "sine=duration=1.8", "-c:v",
                       "flv", "-c:a", "libmp3lame", path})
                .exit_code,
            0);
  WriteBytes(path, ReadBytes(path) + std::string(500, '\0'));
  AudioDecoder audio = Open(path, OnCorrupt::kError).value();
  const auto whole = audio.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_TRUE(audio.damage().empty());
}

// Where no header tells a duration, libavformat guesses one from the size of
// the file and the bit rate. The file does not have to last that long.
TEST_F(AudioDamage, AGuessedDurationPromisesNothing) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"guess.aptx", {"-ar", "48000", "-ac", "2", "-c:a", "aptx"}},
           {"guess.spdif", {"-ar", "48000", "-c:a", "ac3"}}}) {
    SCOPED_TRACE(sound.name);
    const std::string path = MakeAudio(sound.name, sound.encoding, 1);
    ASSERT_FALSE(path.empty());
    AudioDecoder audio = Open(path, OnCorrupt::kError).value();
    const auto whole = audio.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(audio.damage().empty());
  }
}

// Timestamps of sound files may jump, begin late, and be rounded.
TEST_F(AudioDamage, GapsOfSoundFilesAreNoDamage) {
  const std::vector<std::string> jump = {"-bsf:a",
                                         "setts=ts=TS+gte(N\\,40)*0.7/TB"};
  struct Sound {
    std::string name;
    std::vector<std::string> encoding;
    bool jumps;
  };
  std::vector<Sound> sounds;
  for (const auto& [name, codec] :
       std::vector<std::pair<std::string, std::string>>{
           {"aac.ts", "aac"},
           {"mp2.ts", "mp2"},
           {"ac3.m2ts", "ac3"},
           {"mp3.mka", "libmp3lame"},
           {"opus.webm", "libopus"},
           {"vorbis.mka", "libvorbis"},
           {"aac.mp4", "aac"},
           {"aac.flv", "aac"},
           {"mp3.avi", "libmp3lame"},
           {"pcm.avi", "pcm_s16le"}}) {
    const std::vector<std::string> encoding = {"-ar", "48000", "-c:a", codec};
    sounds.push_back({"legal_" + name, encoding, false});
    sounds.push_back({"jump_" + name, encoding, true});
    sounds.push_back({"late_" + name, encoding, false});
    sounds.back().encoding.insert(sounds.back().encoding.end(),
                                  {"-output_ts_offset", "1.3"});
  }
  for (Sound& sound : sounds) {
    SCOPED_TRACE(sound.name);
    if (sound.jumps) {
      sound.encoding.insert(sound.encoding.end(), jump.begin(), jump.end());
    }
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    ASSERT_FALSE(path.empty());
    AudioDecoder audio = Open(path, OnCorrupt::kError).value();
    const auto whole = audio.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(audio.damage().empty());
    EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
  }
}

}  // namespace
}  // namespace bulkhead::tests
