// SPDX-License-Identifier: Apache-2.0
//
// No sound file is refused: what `ffmpeg -v warning` plays without a word is
// delivered by default, each picture and each sample equal to ffmpeg's, and
// without an error. What ffmpeg plays with complaints is equal up to the first
// error. The files are from unusual/ below BULKHEAD_SHARED and clips that
// ffmpeg makes here; BULKHEAD_ALL_CLIPS=1 takes all of the clips.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/access/accesses.h"
#include "tests/access/straight_pass.h"
#include "tests/audio/samples.h"
#include "tests/media/ffmpeg_play.h"
#include "tests/media/sample_file_suite.h"
#include "tests/media/sample_files.h"
#include "tests/media/unusual_clips.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kLeastClips = 200;
constexpr size_t kLeastAccessed = 40;  // of the clips, by FrameAt

// Files of unusual/ that are not played to their end.
enum class Known { kStops, kRefused };
struct KnownFile {
  const char* name;
  Known known;
  const char* reason;
};
constexpr KnownFile kKnownFiles[] = {
    {"truncation_chained-audio-video.ogg", Known::kStops,
     "libavformat stops with an error in the middle"},
    {"garbage_htj2k_lossy.j2k", Known::kRefused,
     "libavcodec says in its log alone that it cannot decode HTJ2K"},
};

const KnownFile* FindKnown(const std::string& name) {
  for (const KnownFile& file : kKnownFiles) {
    if (name == file.name) return &file;
  }
  return nullptr;
}

// Returns the clips of this run: all, or three of five.
const std::vector<UnusualClip>& Clips() {
  static const auto& clips = *new std::vector<UnusualClip>([] {
    std::vector<UnusualClip> chosen;
    const bool all = std::getenv("BULKHEAD_ALL_CLIPS") != nullptr;
    size_t row = 0;
    for (const UnusualClip& clip : UnusualClips()) {
      if (all || row % 5 < 3) chosen.push_back(clip);
      ++row;
    }
    return chosen;
  }());
  return clips;
}

// Returns the names of the clips whose pictures are also asked for by number:
// every third.
const std::set<std::string>& AccessedClips() {
  static const auto& names = *new std::set<std::string>([] {
    std::set<std::string> chosen;
    size_t row = 0;
    for (const UnusualClip& clip : Clips()) {
      if (HasPictures(clip) && row++ % 3 == 0) chosen.insert(clip.file);
    }
    return chosen;
  }());
  return names;
}

// Returns the files of unusual/ and the clips, which have yet to be made.
std::vector<SampleFile> Files() {
  std::vector<SampleFile> files = UnusualFiles();
  for (SampleFile& file : files) file.has_video = file.has_sound = true;
  for (const UnusualClip& clip : Clips()) {
    files.push_back({.name = clip.file,
                     .has_video = HasPictures(clip),
                     .has_sound = HasSound(clip)});
  }
  return files;
}

// How many rows of a table this shard has tried, and how many of them ffmpeg
// could not make.
struct Tally {
  size_t tried = 0;
  size_t missing = 0;

  // Expects that as large a part of the rows was made here as has to be made of
  // the whole table: if each shard keeps to that, `least` rows were.
  void ExpectEnough(size_t rows, size_t least) const {
    ASSERT_GE(rows, least);
    EXPECT_LE(missing * rows, (rows - least) * tried)
        << missing << " of " << tried << " clips could not be made";
  }
};

bool IsOfTheInput(const Status& failure) {
  return failure.code() == Code::kBadInput ||
         failure.code() == Code::kUnsupported;
}

class NoRefusal : public SampleFileSuite {
 protected:
  static void TearDownTestSuite() {
    clips_.ExpectEnough(Clips().size(), kLeastClips);
    accessed_.ExpectEnough(AccessedClips().size(), kLeastAccessed);
    std::printf(
        "%zu files played: streams were played to the end %zu times and up to "
        "an error %zu times; %zu clips could not be made\n",
        played_, whole_, partly_, clips_.missing);
    SampleFileSuite::TearDownTestSuite();
  }

  void SetUp() override {
    path_ = GetParam().path;
    known_ = FindKnown(GetParam().name);
    if (!path_.empty()) return;
    is_accessed_ = AccessedClips().contains(GetParam().name);
    const auto made = MakeUnusualClip(GetParam().name);
    for (Tally* tally : {&clips_, is_accessed_ ? &accessed_ : nullptr}) {
      if (tally == nullptr) continue;
      ++tally->tried;
      tally->missing += !made;
    }
    if (!made) GTEST_SKIP() << made.error();
    path_ = *made;
  }

  // A clip of which nothing is asked by number is decoded on one device only.
  std::vector<const char*> Devices() const {
    if (!GetParam().path.empty() || is_accessed_) return {"cpu", "openreg:0"};
    return {"cpu"};
  }

  void ExpectPictures();
  void ExpectPass(const VideoDecoder* video, const StraightPass& pass,
                  const PlayedPictures& expected);
  void ExpectFramesByNumber(const char* device,
                            const std::vector<SeenFrame>& frames);
  void ExpectSound();
  void ExpectSoundBeforeError(const char* device, const PlayedSound& expected);
  void ExpectMayFail(const Status& failure, const std::string& complaints);

  static Tally clips_;
  static Tally accessed_;
  static size_t played_, whole_, partly_;

  std::string path_;
  const KnownFile* known_ = nullptr;
  bool is_accessed_ = false;
};

Tally NoRefusal::clips_;
Tally NoRefusal::accessed_;
size_t NoRefusal::played_ = 0;
size_t NoRefusal::whole_ = 0;
size_t NoRefusal::partly_ = 0;

// Expects a failure of the file that ffmpeg complains of as well.
void NoRefusal::ExpectMayFail(const Status& failure,
                              const std::string& complaints) {
  EXPECT_TRUE(IsOfTheInput(failure)) << failure;
  EXPECT_TRUE(known_ != nullptr || !complaints.empty())
      << "refused, though ffmpeg plays it without a word: " << failure;
  ++partly_;
}

// `video` is null if the file could not be opened.
void NoRefusal::ExpectPass(const VideoDecoder* video, const StraightPass& pass,
                           const PlayedPictures& expected) {
  const std::vector<DamagedRange> damage =
      video != nullptr ? DamageOf(*video) : std::vector<DamagedRange>();
  if (pass.failure.ok()) {
    ++whole_;
    EXPECT_EQ(pass.frames.size(), expected.hashes.size());
    EXPECT_TRUE(damage.empty()) << DamageSignName(damage[0].sign);
    EXPECT_EQ(known_, nullptr) << known_->reason;
  } else {
    ExpectMayFail(pass.failure, expected.complaints);
  }
  ASSERT_LE(pass.frames.size(), expected.hashes.size()) << pass.failure;
  for (size_t i = 0; i < pass.frames.size(); ++i) {
    ASSERT_EQ(pass.frames[i].hash, expected.hashes[i]) << "frame " << i;
  }
  if (known_ == nullptr) return;
  if (known_->known == Known::kRefused) {
    EXPECT_TRUE(pass.frames.empty()) << known_->reason;
  } else {
    EXPECT_FALSE(pass.frames.empty());
    EXPECT_TRUE(std::any_of(damage.begin(), damage.end(),
                            [](const DamagedRange& range) {
                              return range.sign == DamageSign::kStopped;
                            }))
        << known_->reason << ": " << pass.failure;
  }
}

// Asks a fresh decoder for frames of the pass.
void NoRefusal::ExpectFramesByNumber(const char* device,
                                     const std::vector<SeenFrame>& frames) {
  auto video = host().OpenVideo(path_, {.device = device});
  ASSERT_TRUE(video) << video.error();
  ExpectAccesses(*video, frames, 8);
}

void NoRefusal::ExpectPictures() {
  const PlayedPictures expected = PlayPictures(path_);
  if (!expected.has_stream) {
    EXPECT_FALSE(GetParam().path.empty()) << "the clip has no pictures";
    return;
  }
  EXPECT_FALSE(GetParam().path.empty() && expected.hashes.empty());
  for (const char* device : Devices()) {
    SCOPED_TRACE(device);
    auto video = host().OpenVideo(path_, {.device = device});
    StraightPass pass;
    if (video) {
      pass = DecodeStraight(*video);
    } else {
      pass.failure = video.error();
    }
    ExpectPass(video ? &*video : nullptr, pass, expected);
    if (is_accessed_ && pass.failure.ok() && !pass.frames.empty()) {
      ExpectFramesByNumber(device, pass.frames);
    }
  }
}

// Compares the samples before the first one that is damaged.
void NoRefusal::ExpectSoundBeforeError(const char* device,
                                       const PlayedSound& expected) {
  auto audio = host().OpenAudio(
      path_, {.device = device, .on_corrupt = OnCorrupt::kSkip});
  if (!audio) return;
  const auto samples = audio->AllSamples();
  if (!samples) return;
  uint64_t sound = std::numeric_limits<uint64_t>::max();
  for (const DamagedSamples& range : audio->damage()) {
    if (range.kind == DamageKind::kNote) continue;
    sound = std::min(sound, range.first_sample);
  }
  std::vector<float> actual = Interleaved(*samples);
  actual.resize(std::min<uint64_t>(sound, samples->count()) *
                samples->channels);
  ASSERT_LE(actual.size(), expected.samples.size());
  const std::vector<float> beginning(
      expected.samples.begin(),
      expected.samples.begin() + static_cast<std::ptrdiff_t>(actual.size()));
  EXPECT_TRUE(Same(actual, beginning)) << actual.size() << " numbers";
}

void NoRefusal::ExpectSound() {
  const PlayedSound expected = PlaySound(path_);
  if (!expected.has_stream) {
    EXPECT_FALSE(GetParam().path.empty()) << "the clip has no sound";
    return;
  }
  EXPECT_FALSE(GetParam().path.empty() && expected.samples.empty());
  for (const char* device : Devices()) {
    SCOPED_TRACE(device);
    auto audio = host().OpenAudio(path_, {.device = device});
    const auto samples =
        audio ? audio->AllSamples() : Result<AudioSamples>(audio.error());
    if (!samples) {
      ExpectMayFail(samples.error(), expected.complaints);
      ExpectSoundBeforeError(device, expected);
      continue;
    }
    ++whole_;
    EXPECT_EQ(known_, nullptr) << known_->reason;
    const std::vector<float> actual = Interleaved(*samples);
    EXPECT_TRUE(Same(actual, expected.samples))
        << actual.size() << " numbers, not " << expected.samples.size();
    for (const DamagedSamples& range : audio->damage()) {
      EXPECT_EQ(range.kind, DamageKind::kNote) << DamageSignName(range.sign);
    }
  }
}

TEST(UnusualClips, AreEnough) {
  EXPECT_GE(Clips().size(), kLeastClips);
  EXPECT_GE(AccessedClips().size(), kLeastAccessed);
}

TEST_P(NoRefusal, IsPlayedAsByFfmpeg) {
  ++played_;
  if (GetParam().has_video) ExpectPictures();
  if (GetParam().has_sound) ExpectSound();
}

INSTANTIATE_TEST_SUITE_P(Files, NoRefusal, testing::ValuesIn(Files()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
