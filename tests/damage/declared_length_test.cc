// SPDX-License-Identifier: Apache-2.0
// Files that lack their end. The headers of MP4, Matroska, RIFF and FLAC show
// what is missing; a file of another kind is then a shorter file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint64_t kFrames = 100;

struct Kind {
  std::string file;
  std::vector<std::string> encoding;
  uint64_t slack = 0;  // by which the reported number may be wrong
};

class DeclaredLength : public testing::TestWithParam<Kind> {
 protected:
  void Make(const std::vector<std::string>& source) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    path_ = TemporaryDirectory() + "/whole_" + GetParam().file;
    std::vector<std::string> words = source;
    words.insert(words.end(), GetParam().encoding.begin(),
                 GetParam().encoding.end());
    words.push_back(path_);
    const ProgramResult made = RunFfmpeg(words);
    ASSERT_EQ(made.exit_code, 0) << made.Describe();
    bytes_ = ReadBytes(path_);
  }

  std::string Cut(size_t size) const {
    return WriteClip("cut_" + GetParam().file, bytes_.substr(0, size));
  }

  std::unique_ptr<Host> host_;
  std::string path_;
  std::string bytes_;
};

class VideoLength : public DeclaredLength {
 protected:
  void SetUp() override {
    Make({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-t", "4"});
  }

  // Returns places within a packet and between two.
  std::vector<size_t> Cuts() const {
    std::vector<size_t> cuts;
    for (const FilePacket& packet : PacketsOf(path_)) {
      cuts.push_back(packet.position);
    }
    EXPECT_EQ(cuts.size(), kFrames);
    return {cuts.at(60), cuts.at(60) + 100, cuts.at(90) + 100};
  }

  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    return host_->OpenVideo(path, {.on_corrupt = on_corrupt}).value();
  }
};

class ShorterVideo : public VideoLength {};

TEST_P(VideoLength, TellsWhatIsMissing) {
  VideoDecoder whole = Open(path_, OnCorrupt::kError);
  const StraightPass intact = DecodeStraight(whole);
  ASSERT_TRUE(intact.failure.ok()) << intact.failure;
  ASSERT_EQ(intact.frames.size(), kFrames);
  EXPECT_TRUE(whole.damage().empty());
  for (const size_t size : Cuts()) {
    SCOPED_TRACE(size);
    const std::string path = Cut(size);
    VideoDecoder skipping = Open(path, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(skipping);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    EXPECT_LT(pass.frames.size(), kFrames);
    uint64_t told = pass.frames.size();
    for (const DamagedRange& range : DamageOf(skipping)) told += range.frames;
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(kFrames),
                static_cast<double>(GetParam().slack));
    ASSERT_FALSE(DamageOf(skipping).empty());
    EXPECT_EQ(DamageOf(skipping).back().sign, DamageSign::kCutOff);

    // The packet at the end may be rejected before.
    VideoDecoder strict = Open(path, OnCorrupt::kError);
    size_t frames = 0;
    int errors = 0;
    for (; errors < 3; ++errors) {
      const StraightPass part = DecodeStraight(strict);
      frames += part.frames.size();
      if (part.failure.ok()) break;
      EXPECT_EQ(part.failure.code(), Code::kBadInput) << part.failure;
    }
    EXPECT_GE(errors, 1);
    EXPECT_LT(errors, 3) << "the pass does not end";
    EXPECT_LE(frames, pass.frames.size());
    ASSERT_FALSE(DamageOf(strict).empty());
    EXPECT_EQ(DamageOf(strict).back().sign, DamageSign::kCutOff);
  }
}

TEST_P(ShorterVideo, IsNotCutOff) {
  VideoDecoder whole = Open(path_, OnCorrupt::kError);
  const StraightPass intact = DecodeStraight(whole);
  ASSERT_EQ(intact.frames.size(), kFrames);
  for (const size_t size : Cuts()) {
    SCOPED_TRACE(size);
    VideoDecoder video = Open(Cut(size), OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    ASSERT_LT(pass.frames.size(), kFrames);
    ASSERT_GT(pass.frames.size(), 50u);
    // The last packet is torn.
    for (size_t i = 0; i + 1 < pass.frames.size(); ++i) {
      EXPECT_EQ(pass.frames[i].hash, intact.frames[i].hash) << i;
    }
    for (const DamagedRange& range : video.damage()) {
      EXPECT_NE(range.sign, DamageSign::kCutOff);
    }
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) {
  std::string name = kind.param.file;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, VideoLength,
    testing::Values(Kind{"mpeg4.mp4",
                         {"-c:v", "mpeg4", "-g", "1", "-movflags",
                          "faststart"}},
                    Kind{"mpeg4.mkv", {"-c:v", "mpeg4", "-g", "1"}, 1},
                    Kind{"mjpeg.avi", {"-c:v", "mjpeg"}, 1}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Kinds, ShorterVideo,
    testing::Values(Kind{"mpeg2.ts", {"-c:v", "mpeg2video", "-g", "1"}},
                    Kind{"flv1.flv", {"-c:v", "flv", "-g", "1"}},
                    Kind{"vp8.ivf",
                         {"-c:v", "libvpx", "-deadline", "realtime"}}),
    NameOf);

// Matroska whose last clusters are overwritten: libavformat passes over them to
// the end of the file. The time in the header makes that a note.
TEST(OverwrittenClusters, AreANote) {
  const std::unique_ptr<Host> host =
      Host::Create({.libexec_dir = LibexecDirectory()}).value();
  const std::string path = TemporaryDirectory() + "/clusters.mkv";
  const ProgramResult made =
      RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi",
                 "-i", "sine=sample_rate=44100", "-t", "4", "-c:v", "mpeg4",
                 "-g", "1", "-c:a", "ac3", "-cluster_time_limit", "500", path});
  ASSERT_EQ(made.exit_code, 0) << made.Describe();
  std::string bytes = ReadBytes(path);
  const std::string cluster = "\x1f\x43\xb6\x75";
  int overwritten = 0;
  for (size_t at = bytes.size() / 2;
       (at = bytes.find(cluster, at)) != std::string::npos; ++overwritten) {
    bytes.replace(at, cluster.size(), cluster.size(), '\0');
  }
  ASSERT_GT(overwritten, 1);
  const std::string damaged = WriteClip("overwritten.mkv", bytes);

  VideoDecoder video = host->OpenVideo(damaged).value();
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_LT(pass.frames.size(), kFrames);
  ASSERT_EQ(video.damage().size(), 1u);
  EXPECT_EQ(video.damage()[0].kind, DamageKind::kNote);
  EXPECT_EQ(video.damage()[0].sign, DamageSign::kGap);

  AudioDecoder audio = host->OpenAudio(damaged).value();
  const auto samples = audio.AllSamples();
  ASSERT_TRUE(samples) << samples.error();
  EXPECT_LT(samples->count(), 4 * 44100u);
  ASSERT_EQ(audio.damage().size(), 1u);
  EXPECT_EQ(audio.damage()[0].kind, DamageKind::kNote);
  EXPECT_EQ(audio.damage()[0].sign, DamageSign::kGap);
}

class AudioLength : public DeclaredLength {
 protected:
  void SetUp() override {
    Make({"-f", "lavfi", "-i", "sine=frequency=300:sample_rate=44100", "-t",
          "4"});
  }
  AudioDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    return host_->OpenAudio(path, {.on_corrupt = on_corrupt}).value();
  }
};

TEST_P(AudioLength, TellsWhatIsMissing) {
  AudioDecoder intact = Open(path_, OnCorrupt::kError);
  const auto whole = intact.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_TRUE(intact.damage().empty());
  const std::string path = Cut(bytes_.size() * 6 / 10);
  AudioDecoder strict = Open(path, OnCorrupt::kError);
  const auto refused = strict.AllSamples();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();

  AudioDecoder skipping = Open(path, OnCorrupt::kSkip);
  const auto skipped = skipping.AllSamples();
  ASSERT_TRUE(skipped) << skipped.error();
  ASSERT_EQ(skipped->count(), whole->count());
  std::vector<DamagedSamples> damage = skipping.damage();
  std::erase_if(damage, [](const DamagedSamples& range) {
    return range.kind == DamageKind::kNote;
  });
  ASSERT_FALSE(damage.empty());
  // The last frame of FLAC is torn, too.
  if (path_.ends_with(".wav")) {
    EXPECT_EQ(damage.back().sign, DamageSign::kCutOff);
  }
  EXPECT_EQ(damage.back().first_sample + damage.back().samples, whole->count());
  const auto sound = static_cast<std::ptrdiff_t>(damage.front().first_sample);
  EXPECT_GT(sound, 44100);
  EXPECT_TRUE(std::equal(whole->channel(0).begin(),
                         whole->channel(0).begin() + sound,
                         skipped->channel(0).begin()));
}

// A writer that cannot seek leaves such a size in the header.
TEST_P(AudioLength, IsUnknownWhereTheHeaderTellsNone) {
  AudioDecoder intact = Open(path_, OnCorrupt::kError);
  const auto whole = intact.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  std::string bytes = bytes_;
  if (path_.ends_with(".wav")) {
    bytes.replace(4, 4, 4, '\xff');
    bytes.replace(bytes.find("data") + 4, 4, 4, '\xff');
  } else {
    // The lower 32 of the 36 bits of the number of samples in STREAMINFO
    // (RFC 9639, section 8.2); the upper ones are 0.
    bytes.replace(22, 4, 4, '\0');
  }
  AudioDecoder audio =
      Open(WriteClip("unknown_" + GetParam().file, bytes), OnCorrupt::kError);
  const auto samples = audio.AllSamples();
  ASSERT_TRUE(samples) << samples.error();
  EXPECT_EQ(samples->data, whole->data);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AudioLength,
                         testing::Values(Kind{"pcm.wav", {"-c:a", "pcm_s16le"}},
                                         Kind{"flac.flac", {"-c:a", "flac"}}),
                         NameOf);

}  // namespace
}  // namespace bulkhead::tests
