// SPDX-License-Identifier: Apache-2.0
//
// Pictures whose references are lost. Whole packets are taken out of clips, so
// that all that is left is intact: each picture that then differs from that of
// the intact file refers to a picture that is missing. None of these may be
// delivered as sound, and no frame beyond the group of pictures of the loss may
// be called damaged. And pictures whose packets are overwritten in part, with
// those that refer to them.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// How a packet is taken out, in a way that the container or the decoder can
// tell.
enum class Loss {
  kCut,    // transport packets are cut out
  kBlank,  // the bytes of the packet are zeroes
};

struct Case {
  const char* name;
  Loss loss;
  // Frames from keyframe to keyframe. With a gradual refresh, up to the end of
  // the first refresh that begins behind the loss.
  int group;
  std::vector<std::string> words;
};

std::vector<Case> Cases() {
  const std::vector<std::string> x264 = {"-c:v", "libx264", "-g",
                                         "15",   "-bf",     "3"};
  const auto with = [](std::vector<std::string> words,
                       const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  return {
      {"h264.ts", Loss::kCut, 15, x264},
      {"h264_open.ts", Loss::kCut, 15,
       with(x264, {"-x264-params", "open-gop=1:scenecut=0"})},
      {"h264.mkv", Loss::kBlank, 15, x264},
      {"h264_fragments.mp4", Loss::kBlank, 15,
       with(x264, {"-movflags", "frag_keyframe+empty_moov"})},
      {"h264_intra_refresh.ts",
       Loss::kCut,
       45,
       {"-c:v", "libx264", "-g", "15", "-x264-params", "intra-refresh=1"}},
      {"hevc.ts",
       Loss::kCut,
       15,
       {"-c:v", "libx265", "-x265-params",
        "keyint=15:bframes=3:open-gop=1:log-level=none:pools=none"}},
      {"hevc.mp4",
       Loss::kBlank,
       15,
       {"-c:v", "libx265", "-x265-params",
        "keyint=15:bframes=3:open-gop=1:log-level=none:pools=none"}},
      {"vp8.webm",
       Loss::kBlank,
       15,
       {"-c:v", "libvpx", "-g", "15", "-auto-alt-ref", "1", "-lag-in-frames",
        "16"}},
      {"vp9.webm",
       Loss::kBlank,
       15,
       {"-c:v", "libvpx-vp9", "-g", "15", "-auto-alt-ref", "1",
        "-lag-in-frames", "16", "-cpu-used", "5"}},
      {"av1.mkv",
       Loss::kBlank,
       15,
       {"-c:v", "libsvtav1", "-g", "15", "-preset", "10"}},
      {"mpeg2.ts",
       Loss::kCut,
       12,
       {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"}},
      {"mpeg4.mkv",
       Loss::kBlank,
       12,
       {"-c:v", "mpeg4", "-g", "12", "-bf", "2"}},
      {"mjpeg.mkv", Loss::kBlank, 1, {"-c:v", "mjpeg", "-q:v", "5"}},
      {"ffv1.mkv", Loss::kBlank, 1, {"-c:v", "ffv1", "-g", "1"}},
  };
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct FilePacket {
  size_t position = 0;
  size_t bytes = 0;
};

// Returns the packets of the video stream, in the order of the file.
std::vector<FilePacket> PacketsOf(const std::string& path) {
  const ProgramResult listed =
      RunProgram({"ffprobe", "-v", "error", "-select_streams", "v:0",
                  "-show_entries", "packet=pos,size", "-of", "csv=p=0", path});
  std::vector<FilePacket> packets;
  for (size_t at = 0; at < listed.output.size();) {
    const size_t end =
        std::min(listed.output.find('\n', at), listed.output.size());
    FilePacket packet;
    if (std::sscanf(listed.output.substr(at, end - at).c_str(), "%zu,%zu",
                    &packet.bytes, &packet.position) == 2) {
      packets.push_back(packet);
    }
    at = end + 1;
  }
  return packets;
}

// Cuts the transport packets out in which the packet lies, if that can be told
// from the continuity counter.
bool Cut(std::string& bytes, size_t begin, size_t end) {
  constexpr size_t kPacketBytes = 188;
  const int pid = (bytes[begin + 1] & 0x1f) << 8 | (bytes[begin + 2] & 0xff);
  std::string kept;
  size_t removed = 0;
  for (size_t at = begin; at < end; at += kPacketBytes) {
    const int other = (bytes[at + 1] & 0x1f) << 8 | (bytes[at + 2] & 0xff);
    if (other == pid) {
      ++removed;
    } else {
      kept += bytes.substr(at, kPacketBytes);
    }
  }
  bytes.replace(begin, end - begin, kept);
  return removed % 16 != 0;
}

// Overwrites the packet. In Matroska, also the header of its block: what is
// left is then no element.
void Blank(std::string& bytes, const FilePacket& packet, bool matroska) {
  constexpr size_t kBlockHeader = 4;  // the track, a time and flags
  size_t begin = packet.position;
  size_t end = begin + packet.bytes;
  if (matroska) {
    end += kBlockHeader;
    const auto byte = [&](size_t at) {
      return static_cast<uint64_t>(static_cast<uint8_t>(bytes[at]));
    };
    // The position is behind the identifier and the size of the element.
    for (size_t width = 1; width <= 8; ++width) {
      uint64_t size = byte(packet.position - width) & (0xff >> width);
      for (size_t i = 1; i < width; ++i) {
        size = size << 8 | byte(packet.position - width + i);
      }
      if (size != packet.bytes + kBlockHeader) continue;
      begin = packet.position - width - 1;
      break;
    }
  }
  std::fill(
      bytes.begin() + static_cast<std::ptrdiff_t>(begin),
      bytes.begin() + static_cast<std::ptrdiff_t>(std::min(end, bytes.size())),
      '\0');
}

class References : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt,
                    uint32_t threads = 1) {
    return host_
        ->OpenVideo(
            path,
            {.device = "cpu", .threads = threads, .on_corrupt = on_corrupt})
        .value();
  }

  void CheckLoss(const Case& clip, const std::string& path,
                 const std::vector<SeenFrame>& intact);

  std::unique_ptr<Host> host_;
  size_t losses_ = 0, damaged_ = 0;
};

using Hashes = std::map<int64_t, std::string>;

Hashes ByTime(const std::vector<SeenFrame>& frames) {
  Hashes hashes;
  for (const SeenFrame& frame : frames) hashes[frame.pts.value()] = frame.hash;
  return hashes;
}

void References::CheckLoss(const Case& clip, const std::string& path,
                           const std::vector<SeenFrame>& intact) {
  const Hashes expected = ByTime(intact);
  VideoDecoder video = Open(path, OnCorrupt::kSkip);
  const StraightPass pass = DecodeStraight(video);
  ASSERT_TRUE(pass.failure.ok()) << pass.failure;
  for (const SeenFrame& frame : pass.frames) {
    const auto sound = expected.find(frame.pts.value());
    ASSERT_NE(sound, expected.end()) << Describe(frame);
    EXPECT_EQ(frame.hash, sound->second) << "as sound: " << Describe(frame);
  }
  // The frames that are lost, those that refer to them, and the leading
  // pictures of the next group. Where pictures refer to nothing, libavformat
  // may lose the packet behind the loss too, before it finds its way.
  constexpr size_t kLeading = 3;
  const size_t missing = intact.size() - pass.frames.size();
  const size_t group = static_cast<size_t>(clip.group);
  // In Matroska it goes on with the next cluster, and may lose a keyframe.
  const size_t most = clip.group == 1          ? 2
                      : path.ends_with(".mkv") ? 2 * group
                                               : group + kLeading;
  EXPECT_LE(missing, most);
  damaged_ += missing;

  VideoDecoder strict = Open(path, OnCorrupt::kError);
  for (const SeenFrame& frame : DecodeStraight(strict).frames) {
    EXPECT_EQ(frame.hash, expected.at(frame.pts.value()))
        << "before the first error: " << Describe(frame);
  }

  VideoDecoder threaded = Open(path, OnCorrupt::kSkip, 3);
  for (const SeenFrame& frame : DecodeStraight(threaded).frames) {
    EXPECT_EQ(frame.hash, expected.at(frame.pts.value()))
        << "with three threads: " << Describe(frame);
  }

  std::map<uint64_t, SeenFrame> shown;
  for (const SeenFrame& frame : pass.frames) shown[frame.index] = frame;
  for (const bool after_pass : {false, true}) {
    VideoDecoder fresh = Open(path, OnCorrupt::kSkip);
    VideoDecoder& other = after_pass ? video : fresh;
    const uint64_t count = other.FrameCount().value();
    for (uint64_t i = count; i-- > 0;) {
      const auto frame = other.FrameAt(static_cast<int64_t>(i));
      EXPECT_EQ(bool{frame}, shown.count(i) > 0)
          << i << (after_pass ? " after a pass" : " without a pass");
      if (frame && shown.count(i) > 0) {
        EXPECT_EQ(Describe(See(*frame)), Describe(shown[i]));
      }
    }
  }
}

// `duration` in seconds, at 25 frames a second.
ProgramResult MakeClip(const std::string& path, const std::string& duration,
                       const std::vector<std::string>& options) {
  std::vector<std::string> words = {
      "-f", "lavfi", "-i",
      "testsrc2=size=160x120:rate=25:duration=" + duration};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-pix_fmt", "yuv420p", "-threads", "1", path});
  return RunFfmpeg(words);
}

TEST_P(References, WhatRefersToALostPictureIsDamaged) {
  const Case clip = Cases()[GetParam()];
  const std::string path = TemporaryDirectory() + "/intact_" + clip.name;
  std::vector<std::string> words = clip.words;
  const bool matroska = path.ends_with(".mkv") || path.ends_with(".webm");
  if (matroska) {
    // Behind a loss, libavformat goes on with the next cluster.
    words.insert(words.end(), {"-cluster_time_limit", "150"});
  }
  const ProgramResult made = MakeClip(path, "3", words);
  if (!made.started || made.exit_code != 0) {
    GTEST_SKIP() << "ffmpeg cannot make the clip: " << made.Describe();
  }
  VideoDecoder video = Open(path, OnCorrupt::kError);
  const StraightPass intact = DecodeStraight(video);
  ASSERT_TRUE(intact.failure.ok()) << intact.failure;
  ASSERT_TRUE(video.damage().empty());
  const std::vector<FilePacket> packets = PacketsOf(path);
  ASSERT_GT(packets.size(), 60u);
  const std::string whole = Read(path);

  std::mt19937 random(1);
  for (int round = 0; round < 6; ++round) {
    // Not the first ones, from which the size is taken, and not the last.
    const size_t at = 4 + random() % (packets.size() - 24);
    SCOPED_TRACE("packet " + std::to_string(at) + " of " + clip.name);
    std::string bytes = whole;
    if (clip.loss == Loss::kCut) {
      if (!Cut(bytes, packets[at].position, packets[at + 1].position)) continue;
    } else {
      Blank(bytes, packets[at], matroska);
    }
    const std::string damaged = TemporaryDirectory() + "/lossy_" + clip.name;
    std::ofstream(damaged, std::ios::binary) << bytes;
    ++losses_;
    CheckLoss(clip, damaged, intact.frames);
  }
  std::printf("%s: %zu losses, %zu of %zu frames damaged\n", clip.name, losses_,
              damaged_, losses_ * intact.frames.size());
}

// Packets that are overwritten in part. Those of AVI have no timestamps.
struct Overwriting {
  const char* name;
  const char* begin;  // what is overwritten; null: from a third on
  size_t count;
  char byte;
  std::vector<std::string> words;
  // Bytes that are written over those of the packet from here on as well.
  std::string planted = {};
  size_t planted_at = 0;
};

std::vector<Overwriting> Overwritings() {
  const std::vector<std::string> mpeg4 = {"-c:v", "mpeg4", "-g",
                                          "12",   "-bf",   "2"};
  const std::vector<std::string> x264 = {"-c:v", "libx264", "-g",     "15",
                                         "-bf",  "2",       "-coder", "0"};
  const std::vector<std::string> mjpeg = {"-c:v", "mjpeg", "-q:v", "5"};
  // Zeroes and a unit that looks like an IDR picture to which nothing refers.
  const std::string idr("\0\0\0\0\0\0\0\0\0\0\xff\xff\5\x88", 14);
  // The same for a picture that is not an entry.
  const std::string unreferred("\0\0\0\0\0\0\0\0\0\0\xff\xff\1\x88", 14);
  // The delimiter in front of a picture becomes a slice of an IDR picture.
  const std::string no_delimiter("\0\0\0\2\x65\x88", 6);
  const std::vector<std::string> ipp = {"-c:v", "libx264", "-g",
                                        "15",   "-bf",     "0"};
  return {
      {"mpeg4.avi", nullptr, 24, '\xff', mpeg4},
      {"hevc.mp4",
       nullptr,
       SIZE_MAX,
       '\0',
       {"-c:v", "libx265", "-x265-params",
        "keyint=15:bframes=3:crf=8:log-level=none:pools=none"}},
      {"cavlc.mp4", nullptr, 24, '\0', x264},
      {"mjpeg.avi", nullptr, 24, '\xff', mjpeg},
      {"scanless.avi", "\xff\xda", 8, '\1', mjpeg},
      {"idr.mp4",
       nullptr,
       0,
       '\0',
       {"-c:v", "libx264", "-g", "15", "-bf", "3"},
       idr},
      {"unreferred.mp4", nullptr, 0, '\0', ipp, unreferred},
      {"unreferred_byte.mp4", nullptr, 0, '\0', ipp, "\1", 4},
      {"pyramid.mp4",
       nullptr,
       0,
       '\0',
       {"-c:v", "libx264", "-g", "15", "-bf", "3", "-b-pyramid", "normal"},
       unreferred},
      {"delimiter.mp4",
       nullptr,
       0,
       '\0',
       {"-c:v", "libx264", "-g", "15", "-bf", "0", "-x264-params", "aud=1"},
       no_delimiter},
  };
}

class Overwritten : public References {};

TEST_P(Overwritten, NoWrongPictureIsSound) {
  const Overwriting clip = Overwritings()[GetParam()];
  const std::string path = TemporaryDirectory() + "/whole_" + clip.name;
  const ProgramResult made = MakeClip(path, "2", clip.words);
  if (made.exit_code != 0) GTEST_SKIP() << made.Describe();
  VideoDecoder sound = Open(path, OnCorrupt::kError);
  const auto intact = DecodeStraight(sound).frames;
  ASSERT_EQ(intact.size(), 50u);
  const std::vector<FilePacket> packets = PacketsOf(path);
  for (size_t at = 4; at < 46; at += 3) {
    SCOPED_TRACE("packet " + std::to_string(at) + " of " + clip.name);
    std::string bytes = Read(path);
    const auto [begin, size] = packets.at(at);
    const size_t from = clip.begin == nullptr ? begin + size / 3
                                              : bytes.find(clip.begin, begin);
    const size_t count = std::min(clip.count, begin + size - from);
    bytes.replace(from, count, count, clip.byte);
    bytes.replace(begin + clip.planted_at, clip.planted.size(), clip.planted);
    const std::string damaged = TemporaryDirectory() + "/over_" + clip.name;
    std::ofstream(damaged, std::ios::binary) << bytes;
    for (const uint32_t threads : {1u, 3u}) {
      VideoDecoder other = Open(damaged, OnCorrupt::kSkip, threads);
      const StraightPass pass = DecodeStraight(other);
      EXPECT_LT(pass.frames.size(), intact.size()) << pass.failure;
      for (const SeenFrame& frame : pass.frames) {
        EXPECT_EQ(frame.hash, intact.at(frame.index).hash)
            << threads << " threads: " << Describe(frame);
      }
    }
    // The damage may have been sent, though its picture is still to come.
    VideoDecoder seeking = Open(damaged, OnCorrupt::kSkip);
    for (size_t i = at - 4; at > 20 && i < at; ++i) {
      (void)seeking.FrameAt(static_cast<int64_t>(i));
      const auto frame = seeking.FrameAt(10);
      ASSERT_TRUE(frame) << frame.error();
      EXPECT_EQ(See(*frame).hash, intact[10].hash) << "after frame " << i;
    }
  }
}

std::string TestName(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Clips, Overwritten, testing::Range<size_t>(0, 10),
                         [](const auto& test) {
                           return TestName(Overwritings()[test.param].name);
                         });

INSTANTIATE_TEST_SUITE_P(Clips, References, testing::Range<size_t>(0, 14),
                         [](const auto& test) {
                           return TestName(Cases()[test.param].name);
                         });

}  // namespace
}  // namespace bulkhead::tests
