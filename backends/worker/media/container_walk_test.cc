// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/container_walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "backends/worker/media/ffmpeg_reference.h"

namespace bulkhead::worker {
namespace {

struct Kind {
  std::string name;
  std::string encoding;
};

// One for each container whose structure is known, with and without other
// streams, with B-frames, gaps in the timestamps and several frames on a page.
const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"h264.mkv", "-c:v libx264 -bf 2 -c:a flac -cluster_time_limit 500"},
      {"ffv1.mkv", "-an -c:v ffv1 -g 1"},
      {"vp8.webm", "-an -c:v libvpx -b:v 400k -g 25"},
      {"live.webm", "-c:v libvpx -b:v 400k -c:a libopus -f webm -live 1"},
      {"vfr.mkv",
       "-an -vf select='lt(n\\,20)+gt(n\\,60)' -vsync vfr "
       "-c:v libx264 -cluster_time_limit 500"},
      {"theora.ogv", "-c:v libtheora -b:v 400k -c:a libvorbis"},
      {"h264.ts", "-c:v libx264 -bf 2 -c:a mp2"},
      {"mpeg2.m2ts", "-c:v mpeg2video -c:a mp2"},
      {"mjpeg.avi", "-c:v mjpeg -c:a pcm_s16le"},
      {"mpeg4.avi", "-an -c:v mpeg4 -bf 2"},
      {"flv1.flv", "-c:v flv -c:a mp3 -ar 44100"},
      {"h264.flv", "-an -c:v libx264 -bf 2"},
      {"fragments.mp4",
       "-c:v libx264 -bf 2 -g 10 -c:a aac -movflags frag_keyframe+empty_moov"},
  };
  return kinds;
}

std::string Make(const Kind& kind) {
  const std::string path = TemporaryPath(kind.name);
  const bool made = std::filesystem::exists(path) ||
                    RunFfmpeg(
                        "-f lavfi -i testsrc2=s=160x120:r=25 -f lavfi "
                        "-i sine -t 4 " +
                        kind.encoding + " '" + path + "'");
  EXPECT_TRUE(made) << path;
  return path;
}

// Returns the number of packets of the first video stream, and of those with
// lost bytes before them or behind the last one.
struct Walked {
  int packets = 0;
  int losses = 0;
  bool lost_at_end = false;
};

Walked WalkFile(const std::string& path) {
  Walked walked;
  const auto demuxer = OpenFile(path, -1);
  if (!demuxer) return walked;
  for (;;) {
    const auto read = (*demuxer)->ReadPacket();
    if (!read) return walked;
    if (!*read) break;
    ++walked.packets;
    if ((*demuxer)->LostBefore()) {
      ++walked.losses;
      EXPECT_GE((*demuxer)->lost_from(), 0) << path;
    }
  }
  walked.lost_at_end = (*demuxer)->LostAtEnd();
  return walked;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ContainerWalk, AnIntactFileHasNoLoss) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  for (const Kind& kind : Kinds()) {
    const auto walked = WalkFile(Make(kind));
    EXPECT_GE(walked.packets, 50) << kind.name;
    EXPECT_EQ(walked.losses, 0) << kind.name;
    EXPECT_FALSE(walked.lost_at_end) << kind.name;
  }
}

TEST(ContainerWalk, NeitherHasOneAfterASeek) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  for (const Kind& kind : Kinds()) {
    const auto demuxer = OpenFile(Make(kind), -1);
    ASSERT_TRUE(demuxer) << kind.name;
    const auto base = (*demuxer)->facts().time_base;
    const int64_t start = std::max<int64_t>((*demuxer)->facts().start, 0);
    for (const int64_t seconds : {3, 1, 2}) {
      if (!(*demuxer)->SeekToKeyframe(start + seconds * base.denominator /
                                                  base.numerator)) {
        ASSERT_TRUE((*demuxer)->SeekToBeginning());
      }
      while (*(*demuxer)->ReadPacket()) {
        ASSERT_FALSE((*demuxer)->LostBefore()) << kind.name;
      }
    }
  }
}

TEST(ContainerWalk, LostPacketsShow) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  for (const Kind& kind : Kinds()) {
    const std::string path = Make(kind);
    const std::string intact = ReadAll(path);
    const int whole = WalkFile(path).packets;
    for (const bool cut : {false, true}) {
      std::string damaged = intact;
      const size_t at = damaged.size() * 3 / 10;
      const size_t count = damaged.size() / 8;
      if (cut) {
        damaged.erase(at, count);
      } else {
        damaged.replace(at, count, count, '\0');
      }
      const std::string name = TemporaryPath("damaged_" + kind.name);
      std::ofstream(name, std::ios::binary) << damaged;
      const auto walked = WalkFile(name);
      EXPECT_LT(walked.packets, whole) << kind.name << ", cut " << cut;
      EXPECT_TRUE(walked.losses >= 1 || walked.lost_at_end)
          << kind.name << ", cut " << cut;
      EXPECT_LE(walked.losses, 3) << kind.name << ", cut " << cut;
    }
  }
}

// Whatever the bytes and the positions are, a walk comes to an end.
TEST(ContainerWalk, SurvivesAnyBytes) {
  std::mt19937 random(1);  // NOLINT: the same every time
  const std::string path = TemporaryPath("noise");
  for (int round = 0; round < 200; ++round) {
    std::string noise(4096, '\0');
    for (char& byte : noise) {
      // Many bytes that structures are made of.
      constexpr char kBytes[] = "\x47\xA3\xA0\x1F\x43\xB6\x75\x81\xFF\x00Ogg";
      byte = random() % 2 == 0 ? kBytes[random() % (sizeof(kBytes) - 1)]
                               : static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << noise;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    for (const char* container :
         {"matroska,webm", "ogg", "mpegts", "avi", "flv"}) {
      // A file may also be shorter than it was when it was opened.
      const auto walk = ContainerWalk::Of(container, 0x100, fd, 6000);
      ASSERT_NE(walk, nullptr);
      for (int packet = 0; packet < 40; ++packet) {
        walk->LostUntil(static_cast<int64_t>(random() % 8000) - 1);
        if (random() % 16 == 0) walk->Restart();
      }
      walk->LostUntil(INT64_MAX - 1);
    }
    close(fd);
  }
  EXPECT_EQ(ContainerWalk::Of("mov,mp4,m4a,3gp,3g2,mj2", 1, -1, 0), nullptr);
}

TEST(ContainerWalk, NoFileOfTheCollectionHasOneThatFfmpegDoesNotNotice) {
  const char* const shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(shared) + "/media")) {
    if (!entry.is_regular_file()) continue;
    const auto walked = WalkFile(entry.path());
    files += walked.packets > 0 ? 1 : 0;
    EXPECT_EQ(walked.losses, 0) << entry.path();
  }
  EXPECT_GT(files, 50);
}

TEST(ContainerWalkTest, JoinedTransportStreamsLoseNothing) {
  for (const Kind& kind : Kinds()) {
    if (!kind.name.ends_with("ts")) continue;
    SCOPED_TRACE(kind.name);
    std::ifstream file(Make(kind), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string path = TemporaryPath("joined-" + kind.name);
    std::ofstream(path, std::ios::binary) << bytes << bytes;
    const Walked walked = WalkFile(path);
    EXPECT_EQ(walked.packets, 200);
    EXPECT_EQ(walked.losses, 0);
  }
}

// The counter has its old value again behind sixteen lost packets. Half of
// another packet is lost besides, or bytes are put into one.
TEST(ContainerWalkTest, TransportPacketThatLeadsToNoneIsALoss) {
  constexpr size_t kPacket = 188;
  std::ifstream file(Make({"alone.ts", "-an -c:v mpeg2video"}),
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t at = bytes.size() / 2 / kPacket * kPacket + 100;
  for (const size_t lost : {size_t{7}, 16 * kPacket + 7, size_t{0}}) {
    const std::string path = TemporaryPath("spliced.ts");
    const std::string junk = lost == 0 ? std::string(90, 'x') : "";
    std::ofstream(path, std::ios::binary)
        << bytes.substr(0, at) << junk << bytes.substr(at + lost);
    EXPECT_GE(WalkFile(path).losses, 1) << lost;
  }
  const std::string path = TemporaryPath("padded.ts");
  std::ofstream(path, std::ios::binary)
      << bytes << std::string(1000, '\0') << bytes;
  EXPECT_EQ(WalkFile(path).losses, 0) << "joined";
}

// A packet without a payload announces that the counter jumps.
TEST(ContainerWalkTest, SpliceThatIsAnnouncedLosesNothing) {
  constexpr size_t kPacket = 188;
  std::ifstream file(Make({"h264.ts", "-c:v libx264 -bf 2 -c:a mp2"}),
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<size_t> units;  // in which pictures of the video stream begin
  for (size_t at = 0; at < bytes.size(); at += kPacket) {
    if ((bytes[at + 1] & 0x5f) == 0x41 && bytes[at + 2] == 0) {
      units.push_back(at);
    }
  }
  ASSERT_GT(units.size(), 60u);
  std::string announcement = bytes.substr(units[40], kPacket);
  announcement[1] = 0x01;
  announcement[3] = 0x20;  // an adaptation field alone
  announcement[4] = static_cast<char>(183);
  announcement[5] = static_cast<char>(0x80);
  const std::string path = TemporaryPath("splice.ts");
  for (const bool announced : {true, false}) {
    std::ofstream(path, std::ios::binary)
        << bytes.substr(0, units[20]) << (announced ? announcement : "")
        << bytes.substr(units[41]);
    const Walked walked = WalkFile(path);
    EXPECT_GT(walked.packets, 70);
    EXPECT_EQ(walked.losses, announced ? 0 : 1);
  }
}

}  // namespace
}  // namespace bulkhead::worker
