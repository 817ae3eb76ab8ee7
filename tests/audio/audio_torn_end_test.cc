// SPDX-License-Identifier: Apache-2.0
// Sound files whose headers tell no length, or that of another file: their
// blocks and fragments tell what is torn.
#include <gtest/gtest.h>

#include <algorithm>
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

class TornAudio : public AudioDamage {
 protected:
  // Checks that the file is sound, and the same as ffmpeg decodes.
  void ExpectIntact(const std::string& path) {
    AudioDecoder audio = Open(path, OnCorrupt::kError).value();
    const auto whole = audio.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(audio.damage().empty());
    EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
  }
  // Checks that the file has one damaged place, and returns it.
  DamagedSamples Damage(const std::string& path) {
    EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    samples_ = audio.AllSamples().value().count();
    const auto damage = audio.damage();
    EXPECT_EQ(damage.size(), 1u);
    return damage.empty() ? DamagedSamples() : damage.front();
  }

  uint64_t samples_ = 0;
};

// Each block tells the number of its first sample.
TEST_F(TornAudio, BlocksOfWavPackWithoutATotalTellWhatIsLost) {
  const std::string path = MakeAudio("stream.wv", {"-c:a", "wavpack"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t samples = SamplesByFfmpeg(path).size() / 2;
  std::string bytes = ReadBytes(path);
  std::vector<size_t> blocks;
  for (size_t at = 0; (at = bytes.find("wvpk", at)) != bytes.npos; at += 4) {
    blocks.push_back(at);
    bytes.replace(at + 12, 4, 4, '\xff');
  }
  ASSERT_GE(blocks.size(), 5u);
  WriteBytes(path, bytes);
  ExpectIntact(path);
  WriteBytes(path, bytes + "APETAGEX" + std::string(300, ' '));
  ExpectIntact(path);
  WriteBytes(path, bytes.substr(0, blocks[3]));
  ExpectIntact(path);

  std::string damaged = bytes;
  damaged.replace(blocks[2], 40, 40, '\0');
  WriteBytes(path, damaged);
  EXPECT_FALSE(Damage(path).estimated);
  EXPECT_EQ(samples_, samples);

  damaged = bytes;
  WriteBytes(path, damaged.erase(blocks[2], blocks[3] - blocks[2]));
  EXPECT_FALSE(Damage(path).estimated);
  EXPECT_EQ(samples_, samples);

  damaged = bytes;
  WriteBytes(path, damaged.erase(blocks[2] + 5000, 700));
  EXPECT_FALSE(Damage(path).estimated);
  EXPECT_EQ(samples_, samples);

  WriteBytes(path, bytes.substr(0, blocks[4] - 1000));
  EXPECT_TRUE(Damage(path).estimated);
  EXPECT_EQ(samples_, 4u * 22'050);
}

// A recording that nobody has finished tells neither its duration nor its size.
TEST_F(TornAudio, TheTornEndOfStreamedMatroskaIsDamage) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"piped_mp3.mka", {"-c:a", "libmp3lame"}},
           {"piped_aac.mka", {"-c:a", "aac"}},
           {"piped_opus.webm", {"-ar", "48000", "-c:a", "libopus"}},
           {"piped_pcm.mka", {"-c:a", "pcm_s16le"}}}) {
    std::vector<std::string> live = sound.encoding;
    live.insert(live.end(), {"-live", "1", "-cluster_time_limit", "700"});
    const std::string path = MakeAudio(sound.name, live, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const std::string known = ReadBytes(path);
    std::string unknown = known;
    const std::string cluster = "\x1f\x43\xb6\x75";
    size_t last = 0;
    for (size_t at = 0; (at = unknown.find(cluster, at)) != unknown.npos;) {
      last = at;
      at += cluster.size();
      if (unknown[at] == '\x01') unknown.replace(at + 1, 7, 7, '\xff');
    }
    for (const auto& [name, bytes] :
         {std::pair{"known", known}, {"unknown", unknown}}) {
      SCOPED_TRACE(std::string(sound.name) + ", sizes of clusters: " + name);
      WriteBytes(path, bytes);
      ExpectIntact(path);
      WriteBytes(path, bytes + std::string(100, '\0'));
      ExpectIntact(path);
      WriteBytes(path, bytes.substr(0, last));
      ExpectIntact(path);
      for (const size_t size : {bytes.size() / 2, bytes.size() * 2 / 3,
                                bytes.size() - 40, bytes.size() - 1}) {
        SCOPED_TRACE(size);
        WriteBytes(path, bytes.substr(0, size));
        EXPECT_TRUE(Damage(path).estimated);
      }
    }
  }
}

// A copy of a part has the header of the whole file.
TEST_F(TornAudio, APartOfFlacIsWholeIfItsLastFrameIs) {
  const std::string path = MakeAudio("whole.flac", {"-c:a", "flac"}, 4);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const std::string part = TemporaryDirectory() + "/part.flac";
  ASSERT_EQ(RunFfmpeg({"-i", path, "-t", "2", "-c", "copy", part}).exit_code,
            0);
  ExpectIntact(part);
  const size_t samples = SamplesByFfmpeg(path).size() / 2;
  const std::string bytes = ReadBytes(part);
  for (const auto& [name, torn] :
       {std::pair{"a byte less", bytes.substr(0, bytes.size() - 1)},
        {"a byte more", bytes + '\xff'},
        {"a header more", bytes + "\xff\xf8\xc9"},
        {"half a frame less", bytes.substr(0, bytes.size() - 9000)}}) {
    SCOPED_TRACE(name);
    WriteBytes(part, torn);
    EXPECT_FALSE(Damage(part).estimated);
    EXPECT_EQ(samples_, samples);
  }
}

// A tag is no part of the frame before it, which libavcodec rejects with it.
TEST_F(TornAudio, FramesOfAc3AreTornButNotByTags) {
  const std::string id3 = "TAG" + std::string(125, ' ');
  const std::string ape = "APETAGEX" + std::string(24, '\0');
  const std::string later =
      std::string("ID3\x03\0\0\0\0\0\x20", 10) + std::string(32, '\0');
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"torn.ac3", {"-ar", "48000", "-c:a", "ac3"}},
           {"torn.eac3", {"-ar", "48000", "-c:a", "eac3"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 2);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const std::string bytes = ReadBytes(path);
    const std::vector<float> once = SamplesByFfmpeg(path);
    WriteBytes(path, bytes + bytes);
    const std::vector<float> twice = SamplesByFfmpeg(path);
    for (const std::string& tag :
         {id3, ape, later, ape + id3, std::string(5000, '\0')}) {
      for (const bool is_joined : {false, true}) {
        if (is_joined && tag[0] == '\0') continue;
        SCOPED_TRACE(std::string(sound.name) +
                     (is_joined ? ", joined, " : ", ") + tag.substr(0, 3));
        WriteBytes(path, bytes + tag + (is_joined ? bytes : ""));
        AudioDecoder audio = Open(path, OnCorrupt::kError).value();
        const auto whole = audio.AllSamples();
        ASSERT_TRUE(whole) << whole.error();
        EXPECT_TRUE(Same(Interleaved(*whole), is_joined ? twice : once));
        EXPECT_TRUE(audio.damage().empty());
      }
    }
    const size_t frame = bytes.find("\x0b\x77", 2);
    for (const size_t rest : {size_t{20}, frame / 4, frame - 1}) {
      SCOPED_TRACE(std::string(sound.name) +
                   ", bytes of the frame: " + std::to_string(rest));
      WriteBytes(path, bytes.substr(0, 50 * frame + rest));
      const DamagedSamples damage = Damage(path);
      EXPECT_EQ(damage.first_sample, 50u * 1536);
      EXPECT_EQ(samples_, 51u * 1536);
      EXPECT_FALSE(damage.estimated);
    }
  }
}

// The header counts chunks without bytes, too.
TEST_F(TornAudio, TheEndOfAviWithoutPcmIsAnEstimate) {
  const std::string path = MakeAudio("torn.avi", {"-c:a", "libmp3lame"}, 2);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const std::string bytes = ReadBytes(path);
  WriteBytes(path, bytes.substr(0, bytes.size() / 2));
  EXPECT_TRUE(Damage(path).estimated);
}

// libavformat reads no further where it finds no next fragment.
TEST_F(TornAudio, FragmentsOfMp4TellWhatSoundIsLost) {
  const std::string path = TemporaryDirectory() + "/fragments.mp4";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi",
                 "-i", "aevalsrc=0.4*sin(t*900*(1+t/9)):s=44100", "-t", "3",
                 "-c:v", "mpeg4", "-g", "10", "-c:a", "aac", "-movflags",
                 "+frag_keyframe+empty_moov+default_base_moof", path})
          .exit_code != 0) {
    GTEST_SKIP() << "no ffmpeg on this machine";
  }
  ExpectIntact(path);
  const size_t samples = SamplesByFfmpeg(path).size();
  const std::string bytes = ReadBytes(path);
  for (const size_t part : {3, 4, 5}) {
    SCOPED_TRACE(part);
    std::string damaged = bytes;
    WriteBytes(path, damaged.erase(bytes.size() * part / 9, 1));
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    EXPECT_NEAR(static_cast<double>(audio.AllSamples().value().count()),
                static_cast<double>(samples), 1024);
    ASSERT_FALSE(audio.damage().empty());
    EXPECT_TRUE(audio.damage().back().estimated);
  }
}

// The torn page may be one of the pictures.
TEST_F(TornAudio, APageOfPicturesOfOggIsNoSound) {
  const std::string path = TemporaryDirectory() + "/pictures.ogv";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi",
                 "-i", "sine=sample_rate=44100", "-t", "3", "-c:v", "libtheora",
                 "-c:a", "libvorbis", path})
          .exit_code != 0) {
    GTEST_SKIP() << "this machine's ffmpeg has no Theora";
  }
  const size_t samples = SamplesByFfmpeg(path).size();
  const std::string bytes = ReadBytes(path);
  for (const size_t part : {5, 6, 7}) {
    SCOPED_TRACE(part);
    WriteBytes(path, bytes.substr(0, bytes.size() * part / 9));
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    EXPECT_LE(audio.AllSamples().value().count(), samples);
  }
}

}  // namespace
}  // namespace bulkhead::tests
