// SPDX-License-Identifier: Apache-2.0
//
// The pictures of every sample file, and of clips that ffmpeg makes, equal the
// ffmpeg program's on this machine: on both devices, as RGB and as planes, in
// order and at any place. Bytes of RGB24 depend on the SIMD instructions of the
// machine, so ffmpeg decodes each file here, once for all of this. The planes
// also have the MD5 that another machine has recorded.
#include <gtest/gtest.h>
#include <md5.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "bulkhead/host.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/media/generated_clips.h"
#include "tests/media/marked_frames.h"
#include "tests/media/sample_file_suite.h"
#include "tests/media/sample_files.h"

namespace bulkhead::tests {
namespace {

constexpr const char* kDevices[] = {"cpu", "openreg:0"};

// The number of accesses of each decoder, each device with places of its own.
// The full test takes long and is run with BULKHEAD_ACCESSES=200, as damage.md
// says.
size_t Accesses() {
  const char* text = std::getenv("BULKHEAD_ACCESSES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 12;
}

// Returns sample files and clips. A clip without a path has yet to be made.
std::vector<SampleFile> Files() {
  std::vector<SampleFile> files = MediaFiles();
  for (const std::string& clip : AccessClips()) files.push_back({clip});
  for (const Clip clip : AllClips()) files.push_back({ClipName(clip)});
  return files;
}

Result<std::string> Make(const std::string& name) {
  for (const Clip clip : AllClips()) {
    if (name == ClipName(clip)) return Generate(clip);
  }
  return MakeAccessClip(name);
}

// Returns the indices to access: one third in ascending order, one third in
// descending order, one third random. Some indices occur twice.
std::vector<int64_t> Order(size_t frames, size_t accesses, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> any(0, frames - 1);
  std::vector<int64_t> order(accesses);
  for (int64_t& index : order) index = any(random);
  const auto third = static_cast<std::ptrdiff_t>(accesses / 3);
  std::sort(order.begin(), order.begin() + third);
  std::sort(order.begin() + third, order.begin() + 2 * third, std::greater<>());
  for (size_t i = 5; i < accesses; i += 10) order[i] = order[i - 1];
  return order;
}

// Returns whether all frames of the pass have different timestamps.
bool AreTimed(const std::vector<SeenFrame>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (!frames[i].pts) return false;
    if (i > 0 && *frames[i].pts <= *frames[i - 1].pts) return false;
  }
  return true;
}

std::vector<std::string> HashesOf(const std::vector<SeenFrame>& frames) {
  std::vector<std::string> hashes;
  for (const SeenFrame& frame : frames) hashes.push_back(frame.hash);
  return hashes;
}

void Add(MD5_CTX* md5, const Frame& frame) {
  for (const Plane& plane : frame.planes()) {
    for (uint32_t y = 0; y < plane.height; ++y) {
      MD5Update(md5, reinterpret_cast<const uint8_t*>(plane.row(y).data()),
                plane.row_bytes());
    }
  }
}

class VideoEqualsFfmpeg : public SampleFileSuite {
 protected:
  void SetUp() override {
    path_ = GetParam().path;
    if (path_.empty()) {
      const Result<std::string> made = Make(GetParam().name);
      if (!made) GTEST_SKIP() << made.error();
      path_ = *made;
    }
    auto reference = HashBothForms(path_);
    if (!reference && reference.error().code() == Code::kNotFound) {
      GTEST_SKIP() << reference.error();
    }
    ASSERT_TRUE(reference) << reference.error();
    reference_ = *std::move(reference);
    ASSERT_EQ(reference_.planes.size(), reference_.rgb.size());
  }

  VideoDecoder Open(VideoOptions options) {
    return host().OpenVideo(path_, std::move(options)).value();
  }

  VideoDecoder OpenSkipping(const char* device, OutputFormat format) {
    return Open({.device = device,
                 .on_corrupt = OnCorrupt::kSkip,
                 .output_format = format});
  }

  // Compares the frames of a pass with ffmpeg's pictures, less those that are
  // damaged.
  void ExpectPictures(const VideoDecoder& video,
                      const std::vector<SeenFrame>& frames,
                      const std::vector<std::string>& pictures) const {
    const std::vector<std::string> actual = HashesOf(frames);
    std::vector<std::string> expected;
    for (size_t i = 0; i < pictures.size(); ++i) {
      if (!reference_.marks.empty()) {
        const Mark& mark = reference_.marks[i];
        if (mark.marked) continue;
        // FFmpeg does not mark the frames that refer to a marked one.
        if (IsListedAsDamaged(video, mark.pts) &&
            std::count(actual.begin(), actual.end(), pictures[i]) == 0) {
          continue;
        }
      }
      expected.push_back(pictures[i]);
    }
    ExpectSame(actual, expected);
  }

  static void ExpectSame(const std::vector<std::string>& actual,
                         const std::vector<std::string>& expected) {
    EXPECT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
      ASSERT_EQ(actual[i], expected[i]) << "frame " << i;
    }
  }

  // Decodes the whole file and returns the pass.
  StraightPass Pass(VideoDecoder& video,
                    const std::vector<std::string>& pictures) const {
    StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    ExpectPictures(video, pass.frames, pictures);
    return pass;
  }

  // Asks for frames by number and by time in turn. FrameAt returns the frame of
  // the pass, whatever was asked for before, for every number that decodes.
  // FramePlayedAt returns the latest frame of the pass that has begun.
  static void ExpectAccesses(VideoDecoder& video,
                             const std::vector<SeenFrame>& frames, bool damaged,
                             size_t accesses, uint32_t seed) {
    std::map<uint64_t, size_t> by_number;
    for (size_t i = 0; i < frames.size(); ++i) by_number[frames[i].index] = i;
    const Result<uint64_t> count = video.FrameCount();
    ASSERT_TRUE(count) << count.error();
    const auto played = video.PlayedRange();
    if (!played) {
      ASSERT_EQ(played.error().code(), Code::kBadInput) << played.error();
      EXPECT_TRUE(!AreTimed(frames) || damaged) << played.error();
    } else {
      // A picture whose time follows from decoding times may come without one.
      std::vector<SeenFrame> timed = frames;
      std::erase_if(timed, [](const SeenFrame& frame) { return !frame.pts; });
      ASSERT_TRUE(AreTimed(timed));
    }
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(0, 0.99);
    bool by_time = false;
    for (const int64_t index : Order(*count, accesses, seed)) {
      const auto at = by_number.find(static_cast<uint64_t>(index));
      if (at == by_number.end()) {
        const Result<Frame> frame = video.FrameAt(index);
        ASSERT_FALSE(frame) << index << ": " << Describe(See(*frame));
        ASSERT_EQ(frame.error().code(), Code::kBadInput) << frame.error();
        continue;
      }
      const SeenFrame& expected = frames[at->second];
      double seconds = expected.seconds;
      const size_t next = at->second + 1;
      // A damaged frame may be played between two frames of the pass.
      if (next < frames.size() && frames[next].pts &&
          frames[next].index == expected.index + 1) {
        seconds += part(random) * (frames[next].seconds - seconds);
      }
      by_time = !by_time && played && expected.pts;
      const Result<Frame> frame =
          by_time ? video.FramePlayedAt(seconds) : video.FrameAt(index);
      ASSERT_TRUE(frame) << index << ", " << seconds << ": " << frame.error();
      ASSERT_EQ(Describe(See(*frame)), Describe(expected))
          << (by_time ? "by time, " : "by number, ") << seconds;
    }
  }

  void ExpectRgb() {
    std::optional<StraightPass> first;
    for (const char* device : kDevices) {
      SCOPED_TRACE(device);
      VideoDecoder video = OpenSkipping(device, OutputFormat::kRgb);
      const StraightPass pass = Pass(video, reference_.rgb);
      if (!first) first = pass;
      EXPECT_EQ(pass.frames, first->frames);
      const uint64_t damaged = DamagedFrames(video);
      EXPECT_EQ(video.FrameCount().value(), pass.frames.size() + damaged);
      // A decoder that has met damage knows where it is.
      if (damaged > 0) video = OpenSkipping(device, OutputFormat::kRgb);
      ExpectAccesses(video, pass.frames, damaged > 0, Accesses(),
                     device == kDevices[0] ? 1 : 3);
    }
  }

  void ExpectPlanes() {
    for (const char* device : kDevices) {
      SCOPED_TRACE(device);
      if (device == kDevices[0] && ExpectIntactPlanes(device)) continue;
      VideoDecoder video = OpenSkipping(device, OutputFormat::kNative);
      Pass(video, reference_.planes);
    }
  }

  // Decodes with OnCorrupt::kError. Returns false if the file is damaged, which
  // no file is of which ffmpeg has no complaint.
  bool ExpectIntactPlanes(const char* device) {
    VideoDecoder video =
        Open({.device = device, .output_format = OutputFormat::kNative});
    const std::string& recorded = GetParam().planes_md5;
    std::vector<SeenFrame> frames;
    MD5_CTX md5;
    MD5Init(&md5);
    for (;;) {
      const auto frame = video.Next();
      if (!frame) {
        EXPECT_TRUE(recorded.empty()) << frame.error();
        EXPECT_FALSE(reference_.complaints.empty()) << frame.error();
        return false;
      }
      if (!*frame) break;
      frames.push_back(See(**frame));
      if (!recorded.empty()) Add(&md5, **frame);
    }
    ExpectSame(HashesOf(frames), reference_.planes);
    if (!recorded.empty()) {
      char digest[MD5_DIGEST_STRING_LENGTH];
      EXPECT_EQ(MD5End(&md5, digest), recorded);
    }
    ExpectAccesses(video, frames, false, Accesses() / 2, 5);
    return true;
  }

  // With OnCorrupt::kShow, damaged pictures are shown as ffmpeg shows them.
  void ExpectShown() {
    if (reference_.marks.empty()) return;
    VideoDecoder video =
        Open({.device = "cpu", .on_corrupt = OnCorrupt::kShow});
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    ExpectSame(HashesOf(pass.frames), HashesByFfmpeg(path_).value());
  }

  // FFmpeg's threads and glibc's arenas for them must work under stage 2.
  void ExpectRgbByThreads() {
    // FFmpeg with more threads may mark other frames.
    if (!reference_.marks.empty()) return;
    constexpr uint32_t kThreads = 4;
    VideoDecoder video = Open(
        {.device = "cpu", .threads = kThreads, .on_corrupt = OnCorrupt::kSkip});
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    if (HashesOf(pass.frames) == reference_.rgb) return;
    ExpectSame(HashesOf(pass.frames), HashesByFfmpeg(path_, kThreads).value());
  }

  std::string path_;
  PictureHashes reference_;
};

TEST(Samples, AreThere) {
  if (MediaFiles().empty()) GTEST_SKIP() << WhyNoSamples();
}

// One test for a file, whose reference and passes serve all of it.
TEST_P(VideoEqualsFfmpeg, InOrderByNumberByTimeAndByThreads) {
  ExpectRgb();
  ExpectPlanes();
  ExpectShown();
  ExpectRgbByThreads();
}

INSTANTIATE_TEST_SUITE_P(Files, VideoEqualsFfmpeg, testing::ValuesIn(Files()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
