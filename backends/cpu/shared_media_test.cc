// SPDX-License-Identifier: Apache-2.0

// Compares the decoding of every video of the sample media with the ffmpeg
// program's.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

extern "C" {
#include <libavutil/md5.h>
#include <libavutil/mem.h>
}

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/testing/clip.h"
#include "backends/sdk/testing/fake_runtime.h"

namespace bulkhead::cpu {
namespace {

using sdk::Clip;
using sdk::Decoded;
using sdk::FakeRuntime;

using Row = std::map<std::string, std::string>;

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) {
    fields.push_back(field);
  }
  return fields;
}

std::vector<Row> ReadManifest(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = Split(line);
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = Split(line);
    Row& row = rows.emplace_back();
    for (size_t i = 0; i < fields.size() && i < names.size(); ++i) {
      row[names[i]] = fields[i];
    }
  }
  return rows;
}

std::string Md5(const std::vector<sdk::Picture>& pictures) {
  AVMD5* state = av_md5_alloc();
  av_md5_init(state);
  for (const sdk::Picture& picture : pictures) {
    av_md5_update(state, picture.pixels.data(), picture.pixels.size());
  }
  std::array<uint8_t, 16> digest;
  av_md5_final(state, digest.data());
  av_free(state);
  std::string text;
  for (const uint8_t byte : digest) {
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", byte);
    text += hex;
  }
  return text;
}

TEST(SharedMediaTest, EveryVideoEqualsWhatFfmpegDecodes) {
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  const std::string media = std::string(shared) + "/media/";
  const std::vector<Row> rows = ReadManifest(media + "MANIFEST.tsv");
  ASSERT_FALSE(rows.empty()) << media;
  int compared = 0;
  for (const Row& row : rows) {
    const std::string& expected = row.at("native_video_md5");
    if (row.at("decode_video") != "ok" || expected.empty()) continue;
    // The ffmpeg program scales these to the first picture's size.
    if (row.at("auto_tags").find("dimchange") != std::string::npos) continue;
    const auto clip = Clip::Read(media + row.at("file"));
    ASSERT_TRUE(clip) << row.at("file");
    const FakeRuntime runtime;
    const Decoded decoded =
        sdk::Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip);
    EXPECT_EQ(decoded.opened, BULKHEAD_OK) << decoded.open_error;
    EXPECT_EQ(decoded.failure, BULKHEAD_OK) << decoded.error;
    EXPECT_EQ(Md5(decoded.pictures), expected)
        << row.at("file") << ": " << decoded.pictures.size() << " pictures of "
        << row.at("vframes") << ", " << decoded.bad_packets << " damaged, "
        << row.at("auto_tags");
    EXPECT_EQ(runtime.outstanding(), 0u);
    ++compared;
  }
  RecordProperty("compared", compared);
  std::printf("%d files compared\n", compared);
}

}  // namespace
}  // namespace bulkhead::cpu
