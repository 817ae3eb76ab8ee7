// SPDX-License-Identifier: Apache-2.0
// Tests VideoMetadata::rotation and vertical_flip for the eight ways in which a
// display matrix can turn and mirror a picture.
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/semantics/semantics_fixture.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

struct Turn {
  const char* name;
  std::array<int, 4> matrix;  // a, b, c, d of ISO 14496-12
  int rotation;
  bool vertical_flip;
};

constexpr Turn kTurns[] = {
    {"upright", {1, 0, 0, 1}, 0, false},
    {"clockwise", {0, 1, -1, 0}, 270, false},
    {"half", {-1, 0, 0, -1}, 180, false},
    {"counterclockwise", {0, -1, 1, 0}, 90, false},
    {"top_and_bottom", {1, 0, 0, -1}, 0, true},
    {"left_and_right", {-1, 0, 0, 1}, 180, true},
    {"transposed", {0, 1, 1, 0}, 270, true},
    {"antitransposed", {0, -1, -1, 0}, 90, true},
};

// Returns the path of a copy of Clip::kH264 with the matrix of `turn` in the
// header of its track.
std::string TurnedClip(const Turn& turn) {
  std::ifstream in(Generate(Clip::kH264).value(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  // The box is of version 0: the matrix is 40 bytes after the type.
  const size_t at = bytes.find("tkhd") + 44;
  for (size_t i = 0; i < 4; ++i) {
    // The matrix has rows of three numbers, of 16.16 bits and big-endian.
    const std::string_view numbers[] = {
        {"\xff\xff\0\0", 4}, {"\0\0\0\0", 4}, {"\0\1\0\0", 4}};
    bytes.replace(at + (i / 2 * 3 + i % 2) * 4, 4, numbers[turn.matrix[i] + 1]);
  }
  const std::string path = TemporaryDirectory() + "/" + turn.name + ".mp4";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Returns the plane, one byte a sample, turned as metadata.h says.
std::string Upright(const Plane& plane, const VideoMetadata& metadata) {
  std::vector<std::string> rows;
  for (uint32_t y = 0; y < plane.height; ++y) {
    const auto row =
        plane.row(metadata.vertical_flip ? plane.height - 1 - y : y);
    rows.emplace_back(reinterpret_cast<const char*>(row.data()), row.size());
  }
  for (int turned = 0; turned < metadata.rotation; turned += 90) {
    // The last column becomes the first row.
    std::vector<std::string> columns(rows[0].size());
    for (size_t i = 0; i < columns.size(); ++i) {
      for (const std::string& row : rows) {
        columns[i] += row[row.size() - 1 - i];
      }
    }
    rows = std::move(columns);
  }
  std::string packed;
  for (const std::string& row : rows) packed += row;
  return packed;
}

class Orientations : public Semantics {};

// FFmpeg turns the planes themselves here, so that the bytes can be compared.
TEST_P(Orientations, NativePicturesCanBeTurnedAsFfmpegTurnsThem) {
  for (const Turn& turn : kTurns) {
    SCOPED_TRACE(turn.name);
    const std::string path = TurnedClip(turn);
    auto video = host().OpenVideo(
        path, {.device = GetParam(), .output_format = OutputFormat::kNative});
    ASSERT_TRUE(video) << video.error();
    EXPECT_EQ(video->metadata().rotation, turn.rotation);
    EXPECT_EQ(video->metadata().vertical_flip, turn.vertical_flip);
    const Frame frame = *video->Next().value();
    ASSERT_EQ(frame.pixel_format(), "yuv420p");
    std::string upright;
    for (const Plane& plane : frame.planes()) {
      upright += Upright(plane, video->metadata());
    }
    const ProgramResult ffmpeg =
        RunFfmpeg({"-i", path, "-frames:v", "1", "-f", "rawvideo", "-"});
    EXPECT_EQ(ffmpeg.output.size(), upright.size());
    EXPECT_TRUE(ffmpeg.output == upright);
  }
}

TEST_P(Orientations, AreToldByProbesAndAppliedToRgb) {
  for (const Turn& turn : kTurns) {
    SCOPED_TRACE(turn.name);
    const std::string path = TurnedClip(turn);
    const auto probed = host().Probe(path, {.device = GetParam()});
    ASSERT_TRUE(probed) << probed.error();
    EXPECT_EQ(probed->streams[0].rotation, turn.rotation);
    EXPECT_EQ(probed->streams[0].vertical_flip, turn.vertical_flip);
    EXPECT_NE(
        ToJson(*probed).find(turn.vertical_flip ? "\"vertical_flip\": true"
                                                : "\"vertical_flip\": false"),
        std::string::npos);
    auto video = host().OpenVideo(path, {.device = GetParam()});
    ASSERT_TRUE(video) << video.error();
    EXPECT_EQ(video->metadata().rotation, turn.rotation);
    EXPECT_EQ(video->metadata().vertical_flip, turn.vertical_flip);
    EXPECT_EQ(HashOf(*video->Next().value()),
              HashesByFfmpeg(path).value().front());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Orientations,
                         testing::Values("cpu", "openreg"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace bulkhead::tests
