// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/demuxer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "backends/worker/media/demux/index_scan.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"

namespace bulkhead::worker::demux {
namespace {

std::string FileOf(const std::string& name, const std::string& content) {
  const std::string path = TemporaryPath(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

ipc::Error FailureOf(const std::string& path, int32_t stream = -1) {
  auto demuxer = OpenFile(path, stream);
  return demuxer ? ipc::Error{} : demuxer.error();
}

TEST(Demuxer, AnEmptyFileAndATextAreBadInput) {
  const auto empty = FailureOf(FileOf("empty.mp4", ""));
  EXPECT_EQ(empty.code, ipc::Code::kBadInput);
  EXPECT_EQ(empty.message, "empty.mp4 is empty");
  const auto text = FailureOf(FileOf("text.mp4", "This is no video.\n"));
  EXPECT_EQ(text.code, ipc::Code::kBadInput);
  EXPECT_NE(text.message.find("it cannot be opened as media"),
            std::string::npos);
}

TEST(Demuxer, APlaylistOpensNothing) {
  FileOf("secret.ts", std::string(188 * 8, 'G'));
  for (const std::string name : {"list.m3u8", "list.mp4"}) {
    const auto failure = FailureOf(
        FileOf(name, "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0,\n" +
                         TemporaryPath("secret.ts") + "\n#EXT-X-ENDLIST\n"));
    EXPECT_EQ(failure.code, ipc::Code::kUnsupported) << failure.message;
    EXPECT_NE(failure.message.find("it is of the container hls"),
              std::string::npos)
        << failure.message;
  }
  const auto concat =
      FailureOf(FileOf("list.ffconcat", "ffconcat version 1.0\nfile " +
                                            TemporaryPath("secret.ts") + "\n"));
  EXPECT_EQ(concat.code, ipc::Code::kUnsupported) << concat.message;
}

class ClipDemuxer : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  }

  std::string Make(const std::string& name, const std::string& encoding) {
    const std::string path = TemporaryPath(name);
    EXPECT_TRUE(
        RunFfmpeg("-f lavfi -i testsrc2=s=96x64:r=25 -f lavfi -i sine "
                  "-t 4 " +
                  encoding + " '" + path + "'"));
    return path;
  }
};

TEST_F(ClipDemuxer, AudioAloneIsNoVideo) {
  const auto failure = FailureOf(Make("audio.wav", "-map 1:a"));
  EXPECT_EQ(failure.code, ipc::Code::kNotFound);
  EXPECT_NE(failure.message.find("has no video stream"), std::string::npos);
}

TEST_F(ClipDemuxer, AStreamThatIsNoVideoIsNamedWithThoseThatAre) {
  const auto path = Make("av.mkv", "-map 1:a -map 0:v -c:v mpeg4");
  for (const int stream : {0, 2, -3}) {
    const auto failure = FailureOf(path, stream);
    EXPECT_EQ(failure.code, ipc::Code::kInvalidArgument);
    EXPECT_NE(failure.message.find("video streams: 1"), std::string::npos);
  }
  const auto demuxer = OpenFile(path, -1);
  ASSERT_TRUE(demuxer);
  EXPECT_EQ((*demuxer)->facts().stream_index, 1);
  EXPECT_EQ((*demuxer)->facts().stream_count, 2u);
  EXPECT_EQ((*demuxer)->facts().codec, "mpeg4");
  EXPECT_EQ((*demuxer)->facts().width, 96u);
}

TEST_F(ClipDemuxer, TheOffsetOfTheDescriptorIsLeftAlone) {
  const auto path = Make("offset.mp4", "-map 0:v -c:v mpeg4");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const off_t size = lseek(fd, 0, SEEK_END);
  lseek(fd, 7, SEEK_SET);
  auto demuxer = Demuxer::Open(fd, size, "offset.mp4", -1);
  ASSERT_TRUE(demuxer) << demuxer.error().message;
  while (*(*demuxer)->ReadPacket()) {
  }
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 7);
  demuxer->reset();
  close(fd);
}

TEST_F(ClipDemuxer, TheIndexNamesEveryPacketInChunks) {
  const auto demuxer =
      OpenFile(Make("index.mkv", "-map 0:v -c:v mpeg4 -g 10"), -1);
  ASSERT_TRUE(demuxer);
  std::vector<ipc::IndexEntry> entries;
  size_t largest = 0;
  ASSERT_TRUE(ScanIndex(**demuxer, 33, [&](auto chunk) {
    entries.insert(entries.end(), chunk.begin(), chunk.end());
    largest = std::max(largest, chunk.size());
    return ipc::Expected<void>();
  }));
  EXPECT_EQ(entries.size(), 100u);
  EXPECT_EQ(largest, 33u);
  EXPECT_EQ(std::count_if(entries.begin(), entries.end(),
                          [](const auto& e) { return e.keyframe == 1; }),
            10);
}

// The last picture that others refer to stays back, since it may be dropped.
TEST_F(ClipDemuxer, AChunkOfTheIndexIsNotTooLargeWhereSomethingIsHeldBack) {
  const auto demuxer =
      OpenFile(Make("held.mkv", "-map 0:v -c:v mpeg2video -bf 2 -g 12"), -1);
  ASSERT_TRUE(demuxer);
  for (const size_t most : {size_t{1}, size_t{2}, size_t{7}}) {
    size_t entries = 0;
    ASSERT_TRUE(ScanIndex(**demuxer, most, [&](auto chunk) {
      EXPECT_LE(chunk.size(), most);
      entries += chunk.size();
      return ipc::Expected<void>();
    }));
    EXPECT_EQ(entries, 100u);
  }
}

TEST_F(ClipDemuxer, AfterASeekTheFramesAreThoseOfAPlayFromTheBeginning) {
  for (const std::string name :
       {"seek.mp4", "seek.mkv", "seek.ts", "seek.avi", "seek.mpg"}) {
    const std::string codec = name == "seek.mpg" ? "mpeg2video" : "mpeg4 -bf 2";
    const auto path = Make(name, "-map 0:v -g 12 -c:v " + codec);
    const auto whole = DecodeFile(path, -1);
    ASSERT_TRUE(whole) << whole.error().message;
    ASSERT_GE(whole->hashes.size(), 90u);
    const auto demuxer = OpenFile(path, -1);
    for (const size_t frame : {57u, 3u, 88u, 0u}) {
      const int64_t target = whole->timestamps[frame];
      ASSERT_TRUE((*demuxer)->SeekToKeyframe(target)) << name;
      const auto rest = DecodeOnward(**demuxer, target);
      ASSERT_TRUE(rest) << rest.error().message;
      ASSERT_EQ(rest->hashes.size(), whole->hashes.size() - frame) << name;
      for (size_t i = 0; i < rest->hashes.size(); ++i) {
        ASSERT_EQ(rest->hashes[i], whole->hashes[frame + i])
            << name << ": frame " << frame + i << " after a seek to " << frame;
      }
    }
    ASSERT_TRUE((*demuxer)->SeekToBeginning());
    EXPECT_EQ(DecodeOnward(**demuxer, INT64_MIN)->hashes, whole->hashes);
  }
}

}  // namespace
}  // namespace bulkhead::worker::demux
