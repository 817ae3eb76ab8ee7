// SPDX-License-Identifier: Apache-2.0
//
// Damaged files as a person who watches wants them: OnCorrupt::kShow delivers
// exactly the pictures that the ffmpeg command shows, in the same order. Each
// frame of the index is then either shown or listed as damage. Pictures that
// damage has put after later ones have no place in the index, and are left
// out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/media/generated_clips.h"
#include "tests/support/file_bytes.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kLargestFile = 400'000;
constexpr int kAccesses = 4;

// The number of cases. BULKHEAD_DAMAGE_CASES=1000 gives the full test.
uint32_t Cases() {
  const char* text = std::getenv("BULKHEAD_DAMAGE_CASES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 24;
}

// Flips bits, overwrites a part with zeroes, or cuts the end off.
std::string Damage(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  switch (below(3)) {
    case 0:
      bytes.resize(bytes.size() / 4 + below(bytes.size() * 3 / 4));
      break;
    case 1: {
      const size_t count = 1 + below(2'000);
      const size_t at = below(bytes.size());
      for (size_t i = at; i < std::min(at + count, bytes.size()); ++i) {
        bytes[i] = 0;
      }
      break;
    }
    default:
      for (size_t flips = 1 + below(12); flips > 0; --flips) {
        bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
      }
  }
  return bytes;
}

// Returns the hashes of the frames, without those that are not later than one
// before.
std::vector<std::string> InPlace(const std::vector<ReferenceFrame>& frames) {
  std::vector<std::string> hashes;
  int64_t latest = INT64_MIN;
  for (const ReferenceFrame& frame : frames) {
    if (latest != INT64_MIN && frame.pts <= latest) continue;
    latest = frame.pts;
    hashes.push_back(frame.hash);
  }
  return hashes;
}

struct Shown {
  std::string hash;
  bool damaged = false;
};

class ShowTest : public testing::Test {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    for (const std::string& clip : AccessClips()) {
      const auto path = MakeAccessClip(clip);
      if (path && ReadBytes(*path).size() <= kLargestFile)
        sources_.push_back(*path);
    }
    if (sources_.empty()) GTEST_SKIP() << "there is no ffmpeg on this machine";
  }

  void CheckCase(uint32_t seed);
  void Check(const std::string& path, const std::string& device,
             std::mt19937& random);

  std::unique_ptr<Host> host_;
  std::vector<std::string> sources_;
  size_t compared_ = 0, frames_ = 0, damaged_ = 0, lost_ = 0, late_ = 0;
};

void ShowTest::CheckCase(uint32_t seed) {
  std::mt19937 random(seed);
  const std::string& source = sources_[random() % sources_.size()];
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + source);
  const std::string path = WriteClip("shown" + source.substr(source.rfind('.')),
                                     Damage(ReadBytes(source), random));
  Check(path, seed % 4 == 0 ? "openreg:0" : "cpu", random);
}

void ShowTest::Check(const std::string& path, const std::string& device,
                     std::mt19937& random) {
  auto opened = host_->OpenVideo(
      path, {.device = device, .on_corrupt = OnCorrupt::kShow});
  const auto reference = DecodeWithFfmpeg(path);
  if (!opened) {
    EXPECT_TRUE(!reference || reference->empty()) << opened.error();
    return;
  }
  VideoDecoder& video = *opened;
  std::map<uint64_t, Shown> shown;
  std::vector<std::string> hashes;
  uint64_t damaged = 0;
  while (true) {
    const auto frame = video.Next();
    ASSERT_TRUE(frame) << frame.error();
    if (!*frame) break;
    hashes.push_back(HashOf(**frame));
    shown[(*frame)->index()] = {hashes.back(), (*frame)->damaged()};
    damaged += (*frame)->damaged();
  }
  ASSERT_TRUE(reference) << reference.error();
  late_ += reference->size() - hashes.size();
  if (hashes.size() == reference->size()) {
    for (size_t i = 0; i < hashes.size(); ++i) {
      EXPECT_EQ(hashes[i], (*reference)[i].hash) << i;
    }
  } else {
    EXPECT_EQ(hashes, InPlace(*reference));
  }
  uint64_t listed = 0;
  std::string ranges;
  for (const DamagedRange& range : DamageOf(video)) {
    if (range.not_in_index) continue;
    listed += range.frames;
    ranges += " " + std::to_string(range.first_frame.value_or(0)) + "+" +
              std::to_string(range.frames);
  }
  ++compared_;
  frames_ += hashes.size();
  damaged_ += damaged;
  lost_ += listed - damaged;
  const auto count = video.FrameCount();
  ASSERT_TRUE(count) << count.error();
  EXPECT_EQ(*count, hashes.size() + listed - damaged)
      << hashes.size() << " shown, " << damaged
      << " damaged, listed:" << ranges;
  for (int i = 0; i<kAccesses&& * count> 0; ++i) {
    const uint64_t index = random() % *count;
    const auto frame = video.FrameAt(static_cast<int64_t>(index));
    const auto expected = shown.find(index);
    EXPECT_EQ(bool{frame}, expected != shown.end())
        << index << (frame ? "" : frame.error().message());
    if (frame && expected != shown.end()) {
      EXPECT_EQ(frame->index(), index);
      EXPECT_EQ(frame->damaged(), expected->second.damaged) << index;
    }
  }
}

TEST_F(ShowTest, EveryPictureThatFfmpegShows) {
  const char* first = std::getenv("BULKHEAD_DAMAGE_SEED");
  const uint32_t begin =
      first != nullptr ? std::strtoul(first, nullptr, 10) : 1;
  for (uint32_t seed = begin; seed < begin + Cases(); ++seed) {
    CheckCase(seed);
  }
  std::printf(
      "%u cases, %zu compared: %zu frames, %zu damaged, %zu lost, %zu too "
      "late\n",
      Cases(), compared_, frames_, damaged_, lost_, late_);
}

// The damage of these cases makes libavcodec give pictures after later ones.
TEST_F(ShowTest, WhatComesTooLateIsLostAndNotShownAsWell) {
  for (const uint32_t seed : {1151, 1161}) CheckCase(seed);
}

}  // namespace
}  // namespace bulkhead::tests
