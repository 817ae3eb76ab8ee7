// SPDX-License-Identifier: Apache-2.0
//
// FrameAt(i) is the picture of the pass, whatever a container calls a keyframe.
// Each codec that ffmpeg encodes is put into each container that takes it, with
// the flags as they were muxed, with all packets flagged, and cut in the middle
// of a group of pictures; and the sample files below BULKHEAD_SHARED are taken.
// Frames are asked for in every order, and compared with the pass's,
// which other tests compare with ffmpeg's. BULKHEAD_ALL_CLIPS=1 takes all
// cells, and asks for more frames.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/accesses.h"
#include "tests/access/codec_cells.h"
#include "tests/access/edit_list.h"
#include "tests/access/straight_pass.h"
#include "tests/media/ffmpeg_play.h"
#include "tests/media/sample_file_suite.h"
#include "tests/media/sample_files.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

bool TakesAll() { return std::getenv("BULKHEAD_ALL_CLIPS") != nullptr; }

struct Tally {
  size_t cells = 0;     // files that were made
  size_t compared = 0;  // of them, with a pass without damage
};

// Returns the pass of a fresh decoder; nothing if it fails or meets damage.
std::vector<SeenFrame> SoundPass(Host& host, const std::string& path,
                                 const VideoOptions& options) {
  auto video = host.OpenVideo(path, options);
  if (!video) return {};
  StraightPass pass = DecodeStraight(*video);
  if (!pass.failure.ok() || !DamageOf(*video).empty()) return {};
  return std::move(pass.frames);
}

class CodecMatrix : public testing::TestWithParam<CodecRow> {
 protected:
  static void SetUpTestSuite() {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value().release();
  }
  static void TearDownTestSuite() {
    delete host_;
    host_ = nullptr;
    std::printf("%zu cells, %zu of them compared\n", tally_.cells,
                tally_.compared);
  }

  // Expects the pictures of `expected`, or any if that is empty. Returns what
  // the pass shows.
  std::vector<SeenFrame> ExpectCell(const std::string& path, CellKind kind,
                                    const char* device, uint32_t threads,
                                    const std::vector<SeenFrame>& expected) {
    const VideoOptions options{.device = device, .threads = threads};
    std::vector<SeenFrame> frames = SoundPass(*host_, path, options);
    if (!expected.empty()) {
      EXPECT_EQ(frames, expected) << device << ", " << threads;
    }
    if (frames.empty()) return frames;
    auto video = host_->OpenVideo(path, options);
    if (!video) {
      ADD_FAILURE() << video.error();
      return frames;
    }
    // Of a stream of MPEG-4 that begins in its middle, libavcodec shows a
    // picture twice or not, as timestamps are there or not, and complains.
    if (kind == CellKind::kCut && *video->FrameCount() != frames.size() &&
        !PlayPictures(path).complaints.empty()) {
      return frames;
    }
    ++tally_.compared;
    ++compared_;
    ExpectAccesses(*video, frames, TakesAll() ? 30 : 12);
    return frames;
  }

  static Host* host_;
  static Tally tally_;
  size_t compared_ = 0;
};

Host* CodecMatrix::host_ = nullptr;
Tally CodecMatrix::tally_;

TEST_P(CodecMatrix, GivesThePicturesOfThePass) {
  const CodecRow& codec = GetParam();
  size_t made = 0;
  for (const Cell& cell : CellsOf(codec, TakesAll())) {
    const auto path = MakeCell(codec, cell);
    if (!path) {
      ASSERT_NE(path.error().code(), Code::kNotFound) << path.error();
      continue;
    }
    SCOPED_TRACE(std::string(codec.name) + " " + cell.name());
    ++made;
    ++tally_.cells;
    const auto frames = ExpectCell(*path, cell.kind, "cpu", 1, {});
    if (!TakesAll()) {
      EXPECT_EQ(SoundPass(*host_, *path, {.device = "cpu", .threads = 3}),
                frames);
      continue;
    }
    ExpectCell(*path, cell.kind, "cpu", 3, frames);
    ExpectCell(*path, cell.kind, "openreg:0", 1, frames);
  }
  if (made == 0) GTEST_SKIP() << "this ffmpeg cannot encode " << codec.name;
  EXPECT_GT(compared_, 0u);
}

INSTANTIATE_TEST_SUITE_P(Codecs, CodecMatrix, testing::ValuesIn(CodecRows()),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

// AVI gives pictures that others refer to decoding times alone, and program
// streams some pictures.
void ExpectFramesAtTheirTimes(Host& host, const std::string& path) {
  const std::vector<SeenFrame> frames = SoundPass(host, path, {});
  ASSERT_FALSE(frames.empty());
  auto video = host.OpenVideo(path);
  ASSERT_TRUE(video) << video.error();
  const auto range = video->PlayedRange();
  ASSERT_TRUE(range) << range.error();
  for (size_t i = frames.size(); i-- > 0;) {
    if (!frames[i].pts) continue;
    const auto frame = video->FramePlayedAt(frames[i].seconds);
    ASSERT_TRUE(frame) << frame.error();
    EXPECT_EQ(Describe(See(*frame)), Describe(frames[i]));
  }
  const auto last = video->FramePlayedAt(range->end - 0.001);
  ASSERT_TRUE(last) << last.error();
  EXPECT_EQ(Describe(See(*last)), Describe(frames.back()));
}

TEST(Times, FollowFromDecodingTimes) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  constexpr CodecRow kRows[] = {
      {"times_mpeg4", "-c:v mpeg4 -g 12 -bf 2", nullptr},
      {"times_mpeg4_without_b", "-c:v mpeg4 -g 12", nullptr},
      {"times_mpeg2", "-c:v mpeg2video -g 12 -bf 2", nullptr},
      {"times_mpeg2_without_b", "-c:v mpeg2video -g 12", nullptr},
      {"times_mpeg1", "-c:v mpeg1video -g 12 -bf 2", nullptr},
  };
  for (const CodecRow& codec : kRows) {
    for (const char* extension : {"avi", "mpg", "ts", "mkv", "m4v", "m2v"}) {
      const auto path = MakeCell(codec, {extension, CellKind::kAsMuxed});
      if (!path && path.error().code() == Code::kUnsupported) continue;
      if (!path) GTEST_SKIP() << path.error();
      SCOPED_TRACE(*path);
      ExpectFramesAtTheirTimes(*host, *path);
      const auto cut = MakeCell(codec, {extension, CellKind::kCut});
      if (!cut || !host->OpenVideo(*cut)->PlayedRange()) continue;
      SCOPED_TRACE(*cut);
      ExpectFramesAtTheirTimes(*host, *cut);
    }
  }
  // Of pictures that are packed after others, no packet has the time.
  constexpr CodecRow kPacked{"times_packed", "-c:v libxvid -g 12 -bf 2",
                             nullptr};
  const auto packed = MakeCell(kPacked, {"avi", CellKind::kAsMuxed});
  if (packed) {
    auto video = host->OpenVideo(*packed);
    ASSERT_TRUE(video) << video.error();
    EXPECT_FALSE(video->PlayedRange());
  }
  for (const SampleFile& file : UnusualFiles()) {
    if (file.name != "mpeg_ps_last_frame_without_pts.mpg") continue;
    SCOPED_TRACE(file.name);
    ExpectFramesAtTheirTimes(*host, file.path);
  }
}

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Returns the raw stream `path` of HEVC with a description of film grain that
// stays in force, before the keyframe `nth`.
std::string WithFilmGrain(const std::string& path, int nth) {
  constexpr char kMessage[] =
      "\x00\x00\x01\x4e\x01\x13\x19\x00\xb8\x02\x00\xff\x01\x40\x10\x08"
      "\x00\x20\x0f\xf0\x14\x01\x00\x80\x02\x00\xff\x01\x40\x10\x08\x60"
      "\x80";
  constexpr std::string_view kPicture("\x00\x00\x01\x28", 4);  // IDR_N_LP
  std::string stream = BytesOf(path);
  size_t at = stream.find(kPicture);
  while (nth-- > 0) at = stream.find(kPicture, at + 1);
  stream.insert(at, kMessage, sizeof(kMessage) - 1);
  std::string with = TemporaryDirectory() + "/film_grain.hevc";
  std::ofstream(with, std::ios::binary) << stream;
  return with;
}

// Expects the pictures that one thread gives of any number of threads.
void ExpectThreads(Host& host, const std::string& path, bool are_one) {
  SCOPED_TRACE(path);
  const std::vector<SeenFrame> frames = SoundPass(host, path, {});
  ASSERT_FALSE(frames.empty());
  for (const uint32_t threads : {0u, 2u, 3u}) {
    const VideoOptions with{.device = "cpu", .threads = threads};
    EXPECT_EQ(SoundPass(host, path, with), frames) << threads;
    const auto video = host.OpenVideo(path, with);
    ASSERT_TRUE(video) << video.error();
    EXPECT_EQ(video->metadata().threads, are_one ? 1 : threads);
  }
}

// libavcodec's pictures of MPEG-4, interlaced or of two encoders, and pictures
// of HEVC with several slices or film grain depend on the number of threads.
TEST(Threads, AreOneWherePicturesDependOnThem) {
  constexpr CodecRow kMpeg4[] = {
      {"threads_fields", "-c:v mpeg4 -g 12 -bf 2 -flags +ildct+ilme", nullptr},
      {"threads_whole", "-c:v mpeg4 -g 12", nullptr},
  };
  constexpr CodecRow kXvid{"threads_xvid", "-c:v libxvid -g 12", nullptr};
  constexpr CodecRow kHevc{
      "threads_hevc",
      "-c:v libx265 -preset ultrafast -x265-params "
      "log-level=none:pools=none:keyint=12:bframes=2:open-gop=0",
      nullptr};
  constexpr CodecRow kSlices{"threads_slices",
                             "-c:v libx265 -preset veryfast -x265-params "
                             "log-level=none:pools=none:slices=3:keyint=12",
                             nullptr, "176x144"};
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  for (const CodecRow& codec : kMpeg4) {
    for (const char* extension : {"avi", "mp4", "mkv"}) {
      const auto path = MakeCell(codec, {extension, CellKind::kAsMuxed});
      if (!path) GTEST_SKIP() << path.error();
      ExpectThreads(*host, *path, /*are_one=*/true);
    }
  }
  const auto first = MakeCell(kMpeg4[1], {"m4v", CellKind::kAsMuxed});
  const auto second = MakeCell(kXvid, {"m4v", CellKind::kAsMuxed});
  if (first && second) {
    const std::string joined = TemporaryDirectory() + "/joined.m4v";
    std::ofstream(joined, std::ios::binary)
        << BytesOf(*first) << BytesOf(*second);
    ExpectThreads(*host, joined, /*are_one=*/true);
  }
  const auto sliced = MakeCell(kSlices, {"mp4", CellKind::kAsMuxed});
  if (sliced) ExpectThreads(*host, *sliced, /*are_one=*/true);
  const auto plain = MakeCell(kHevc, {"hevc", CellKind::kAsMuxed});
  if (!plain) GTEST_SKIP() << plain.error();
  ExpectThreads(*host, *plain, /*are_one=*/false);
  const std::string grain = WithFilmGrain(*plain, 0);
  ExpectThreads(*host, grain, /*are_one=*/true);
  EXPECT_NE(SoundPass(*host, grain, {}), SoundPass(*host, *plain, {}));
  const std::string later = WithFilmGrain(*plain, 2);
  EXPECT_FALSE(SoundPass(*host, later, {}).empty());
  auto video = host->OpenVideo(later, {.device = "cpu", .threads = 3});
  ASSERT_TRUE(video) << video.error();
  const Status failure = DecodeStraight(*video).failure;
  EXPECT_EQ(failure.code(), Code::kUnsupported) << failure;
}

// Editors of phones write lists of several parts.
TEST(EditList, GivesEachPartByNumberToo) {
  constexpr CodecRow kCodec{"h264_edited", "-c:v libx264 -g 12 -bf 2", nullptr};
  const auto whole = MakeCell(kCodec, {"mp4", CellKind::kAsMuxed});
  if (!whole) GTEST_SKIP() << whole.error();
  const std::string file = BytesOf(*whole);
  // The movie has milliseconds, the track 12,800 units a second.
  const std::vector<EditedPart> lists[] = {
      {{400, 1024}, {600, 11'264}},
      {{400, 3072}, {400, 3072}},
      {{400, 11'264}, {600, 1024}},
      {{200, 1024}, {200, 9216}, {400, 4096}, {200, -1}, {200, 1024}},
  };
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  for (const auto& list : lists) {
    const auto edited = WithEditList(file, list);
    ASSERT_TRUE(edited);
    const std::string path = TemporaryDirectory() + "/edited.mp4";
    std::ofstream(path, std::ios::binary) << *edited;
    const PlayedPictures expected = PlayPictures(path);
    SCOPED_TRACE(std::to_string(list[0].from) +
                 " first: " + expected.complaints);
    for (const char* device : {"cpu", "openreg:0"}) {
      const VideoOptions video_options{.device = device};
      const auto frames = SoundPass(*host, path, video_options);
      ASSERT_FALSE(frames.empty());
      ASSERT_EQ(frames.size(), expected.hashes.size());
      for (size_t i = 0; i < frames.size(); ++i) {
        ASSERT_EQ(frames[i].hash, expected.hashes[i]) << i;
      }
      auto video = host->OpenVideo(path, video_options);
      ASSERT_TRUE(video) << video.error();
      ExpectAccesses(*video, frames, 12);
      EXPECT_TRUE(video->FrameAt(-1)) << video->FrameAt(-1).error();
    }
  }
}

std::vector<SampleFile> Samples() {
  std::vector<SampleFile> files = MediaFiles();
  for (const SampleFile& file : UnusualFiles()) files.push_back(file);
  return files;
}

class SampleAccess : public SampleFileSuite {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SampleAccess);

TEST_P(SampleAccess, GivesThePicturesOfThePass) {
  const size_t each = TakesAll() ? 20 : 3;
  bool has_threads = false;
  std::vector<SeenFrame> expected;
  for (const char* device : {"cpu", "openreg:0"}) {
    for (const uint32_t threads : {1u, 3u}) {
      // A normal run takes one thread on one device, and three on the other.
      has_threads = !has_threads;
      if (!TakesAll() && has_threads == (device[0] == 'o')) continue;
      SCOPED_TRACE(std::string(device) + ", " + std::to_string(threads));
      const VideoOptions options{.device = device, .threads = threads};
      const auto frames = SoundPass(host(), GetParam().path, options);
      if (expected.empty()) expected = frames;
      EXPECT_EQ(frames, expected);
      if (frames.empty()) continue;
      auto video = host().OpenVideo(GetParam().path, options);
      ASSERT_TRUE(video) << video.error();
      ExpectAccesses(*video, frames, each);
      ExpectBatches(*video, frames, each);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, SampleAccess, testing::ValuesIn(Samples()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
