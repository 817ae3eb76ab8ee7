// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "bulkhead/host.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/media/marked_frames.h"
#include "tests/media/sample_files.h"
#include "tests/support/file_bytes.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kLargestFile = 400'000;

// The number of cases per file. BULKHEAD_DAMAGE_CASES=1000 gives the full test.
uint32_t Cases() {
  const char* text = std::getenv("BULKHEAD_DAMAGE_CASES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 16;
}

// Flips bits anywhere in the file, or truncates it.
std::string Damage(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  if (below(3) == 0) {
    bytes.resize(1 + below(bytes.size()));
    return bytes;
  }
  for (size_t flips = 1 + below(12); flips > 0; --flips) {
    bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
  }
  return bytes;
}

// Returns whether the end is an error of the input or backend, or none, and not
// a fault of Bulkhead.
bool IsHonestEnd(const Status& status) {
  return status.ok() || status.code() == Code::kBadInput ||
         status.code() == Code::kPoisonedInput ||
         status.code() == Code::kUnsupported ||
         status.code() == Code::kResourceExhausted ||
         status.code() == Code::kDeadlineExceeded;
}

// Returns whether a pass meets damage between the last keyframe and the frame.
// The pass then shows a frame that depends on everything before it. Elsewhere,
// damage that no decoder notices can make a seek show another frame. A
// truncated file has damage only in its last packet.
bool NoticesDamage(VideoDecoder& video,
                   const std::map<uint64_t, SeenFrame>& shown, uint64_t frame) {
  const std::vector<int64_t> keyframes = video.KeyFrameIndices().value();
  const auto next = std::upper_bound(keyframes.begin(), keyframes.end(),
                                     static_cast<int64_t>(frame));
  const uint64_t first =
      next == keyframes.begin() ? 0 : static_cast<uint64_t>(*std::prev(next));
  for (uint64_t i = first; i < frame; ++i) {
    if (shown.count(i) == 0) return true;
  }
  return false;
}

class DamagedFiles : public testing::Test {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    for (const SampleFile& file : MediaFiles()) Add(file.path);
    for (const std::string& clip : AccessClips()) {
      if (const auto made = MakeAccessClip(clip)) Add(*made);
    }
    if (sources_.empty()) GTEST_SKIP() << WhyNoSamples();
  }

  void Add(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (static_cast<size_t>(file.tellg()) <= kLargestFile) {
      sources_.push_back(path);
    }
  }

  Result<VideoDecoder> Open(const std::string& path, OnCorrupt on_corrupt) {
    VideoOptions options;
    options.device = device_;
    options.on_corrupt = on_corrupt;
    return host_->OpenVideo(path, options);
  }

  // Decodes and continues after errors of single frames. `sound` gets the
  // number of frames before the first error.
  static std::vector<SeenFrame> DecodePast(VideoDecoder& video, size_t* sound) {
    std::vector<SeenFrame> frames;
    for (size_t errors = 0;; ++errors) {
      const StraightPass pass = DecodeStraight(video);
      frames.insert(frames.end(), pass.frames.begin(), pass.frames.end());
      if (errors == 0) *sound = frames.size();
      if (pass.failure.ok()) return frames;
      EXPECT_EQ(pass.failure.code(), Code::kBadInput) << pass.failure;
      if (pass.failure.code() != Code::kBadInput || errors > 10'000) {
        return frames;
      }
    }
  }

  void CheckAgainst(const VideoDecoder& video,
                    const std::vector<MarkedFrame>& reference,
                    const std::vector<SeenFrame>& frames);
  void CheckStrict(const std::string& path,
                   const std::vector<SeenFrame>& frames, uint64_t damaged);
  void Check(const std::string& path, bool cut, std::mt19937& random);

  std::unique_ptr<Host> host_;
  std::vector<std::string> sources_;
  std::string device_;
  size_t decodable_ = 0, frames_ = 0, damaged_ = 0, accesses_ = 0, others_ = 0;
};

// Expects that all pictures that ffmpeg shows are delivered, except those that
// refer to damaged ones, which ffmpeg does not mark.
void DamagedFiles::CheckAgainst(const VideoDecoder& video,
                                const std::vector<MarkedFrame>& reference,
                                const std::vector<SeenFrame>& frames) {
  std::multiset<std::pair<int64_t, std::string>> delivered;
  for (const SeenFrame& frame : frames) {
    delivered.emplace(frame.pts.value_or(INT64_MIN), frame.hash);
  }
  int64_t latest = INT64_MIN;
  // Pictures without a time cannot be looked up in the list of damage.
  uint64_t missing_without_time = 0;
  for (const MarkedFrame& frame : reference) {
    // Damage has put the picture after a later one.
    const bool late = latest != INT64_MIN && frame.pts <= latest;
    latest = std::max(latest, frame.pts);
    if (frame.marked || late) continue;
    const auto found = delivered.find({frame.pts, frame.hash});
    if (found == delivered.end() && frame.pts == INT64_MIN) {
      ++missing_without_time;
      continue;
    }
    if (found == delivered.end() && IsListedAsDamaged(video, frame.pts)) {
      continue;
    }
    ASSERT_TRUE(found != delivered.end())
        << "not delivered: " << frame.pts << ' ' << frame.hash;
    delivered.erase(found);
  }
  EXPECT_LE(missing_without_time, DamagedFrames(video));
}

// With kError, the decoder reports errors that it ignores with kSkip. Up to the
// first reported error, both modes return the same frames.
void DamagedFiles::CheckStrict(const std::string& path,
                               const std::vector<SeenFrame>& frames,
                               uint64_t damaged) {
  auto strict = Open(path, OnCorrupt::kError);
  if (!strict) {
    EXPECT_EQ(strict.error().code(), Code::kBadInput) << strict.error();
    return;
  }
  size_t sound = 0;
  const auto past = DecodePast(*strict, &sound);
  ASSERT_LE(sound, frames.size());
  EXPECT_TRUE(std::equal(past.begin(), past.begin() + sound, frames.begin()));
  const uint64_t told = DamagedFrames(*strict);
  EXPECT_GE(told > 0, damaged > 0) << told << ' ' << damaged;
  if (DamageOf(*strict).empty()) {
    EXPECT_EQ(sound, frames.size());
  }
  if (const auto count = strict->FrameCount()) {
    EXPECT_EQ(*count, past.size() + told);
  }
}

void DamagedFiles::Check(const std::string& path, bool cut,
                         std::mt19937& random) {
  const auto reference = DecodeWithMarks(path);
  ASSERT_TRUE(reference || reference.error().code() != Code::kInternal)
      << reference.error();
  auto skipping = Open(path, OnCorrupt::kSkip);
  if (!skipping) {
    EXPECT_TRUE(IsHonestEnd(skipping.error())) << skipping.error();
    EXPECT_FALSE(reference) << skipping.error();
    return;
  }
  ++decodable_;
  const StraightPass pass = DecodeStraight(*skipping);
  EXPECT_TRUE(IsHonestEnd(pass.failure)) << pass.failure;
  frames_ += pass.frames.size();
  if (pass.failure.ok() && reference)
    CheckAgainst(*skipping, *reference, pass.frames);
  const uint64_t damaged = DamagedFrames(*skipping);
  damaged_ += damaged;
  if (pass.failure.ok()) CheckStrict(path, pass.frames, damaged);

  auto nearest = Open(path, OnCorrupt::kNearest);
  ASSERT_TRUE(nearest) << nearest.error();
  const auto count = nearest->FrameCount();
  if (!count || *count == 0) return;
  EXPECT_EQ(*count, pass.frames.size() + damaged);
  // A pass after the scan of FrameCount() returns the same frames.
  EXPECT_TRUE(DecodeStraight(*nearest).frames == pass.frames);
  std::map<uint64_t, SeenFrame> shown;
  for (const SeenFrame& frame : pass.frames) shown[frame.index] = frame;
  for (int access = 0; access < 6; ++access) {
    const auto index = static_cast<int64_t>(random() % *count);
    const auto frame = nearest->FrameAt(index);
    if (!frame) {
      EXPECT_TRUE(shown.empty()) << index << ": " << frame.error();
      EXPECT_EQ(frame.error().code(), Code::kBadInput) << frame.error();
      continue;
    }
    ++accesses_;
    const auto expected = shown.find(frame->index());
    ASSERT_NE(expected, shown.end()) << index << ": " << frame->index();
    if (See(*frame) != expected->second) {
      ++others_;
      EXPECT_FALSE(NoticesDamage(*nearest, shown, frame->index()) ||
                   (cut && frame->index() + 1 < *count))
          << index << ": " << Describe(See(*frame)) << ", not "
          << Describe(expected->second);
    }
    if (shown.count(index) > 0) {
      EXPECT_EQ(frame->index(), static_cast<uint64_t>(index));
    }
  }
}

TEST_F(DamagedFiles, GiveAllThatFfmpegShowsSound) {
  const char* first = std::getenv("BULKHEAD_DAMAGE_SEED");
  const uint32_t begin =
      first != nullptr ? std::strtoul(first, nullptr, 10) : 1;
  for (uint32_t seed = begin; seed < begin + Cases(); ++seed) {
    std::mt19937 random(seed);
    device_ = seed % 4 == 0 ? "openreg:0" : "cpu";
    const std::string& source = sources_[random() % sources_.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + source);
    // Keeps the extension, which selects the demuxer if the bytes are
    // ambiguous.
    const std::string file = "damaged" + source.substr(source.rfind('.'));
    const std::string sound = ReadBytes(source);
    const std::string damaged = Damage(sound, random);
    Check(WriteClip(file, damaged), damaged.size() < sound.size(), random);
  }
  std::printf(
      "%u cases, %zu opened, %zu frames delivered, %zu damaged, %zu of %zu "
      "pictures at random places are others than in a pass, since damage was "
      "not noticed\n",
      Cases(), decodable_, frames_, damaged_, others_, accesses_);
}

}  // namespace
}  // namespace bulkhead::tests
