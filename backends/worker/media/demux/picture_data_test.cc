// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/picture_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/adler32.h>
#include <libavutil/log.h>
#include <libavutil/pixfmt.h>
}

#include "backends/worker/media/demux/media_file.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::demux {
namespace {

// Everything that libavformat says of a file, as lines of text.
using Told = std::vector<std::string>;

void TellStreams(const AVFormatContext& format, Told& told) {
  told.push_back(fmt::format("{} {} {} {}", format.duration, format.start_time,
                             format.bit_rate,
                             int{format.duration_estimation_method}));
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    const AVStream& stream = *format.streams[i];
    const AVCodecParameters& codec = *stream.codecpar;
    told.push_back(fmt::format(
        "{} {} format {} bits {} {} profile {} level {} {}x{} {}/{} fields {} "
        "colour {} {} {} {} {} delay {} samples {} {} {} {}",
        int{codec.codec_type}, int{codec.codec_id}, codec.format,
        codec.bits_per_coded_sample, codec.bits_per_raw_sample, codec.profile,
        codec.level, codec.width, codec.height, codec.sample_aspect_ratio.num,
        codec.sample_aspect_ratio.den, int{codec.field_order},
        int{codec.color_range}, int{codec.color_primaries},
        int{codec.color_trc}, int{codec.color_space},
        int{codec.chroma_location}, codec.video_delay, codec.sample_rate,
        codec.frame_size, codec.initial_padding, codec.trailing_padding));
    told.push_back(
        fmt::format("rates {} {}/{} {}/{} {} {} {} {} extra {}", codec.bit_rate,
                    stream.r_frame_rate.num, stream.r_frame_rate.den,
                    stream.avg_frame_rate.num, stream.avg_frame_rate.den,
                    stream.start_time, stream.duration, stream.nb_frames,
                    stream.disposition, codec.extradata_size));
  }
}

void TellPacket(const AVPacket& packet, Told& told) {
  told.push_back(fmt::format(
      "packet {} {} {} {} {} {} {} {}", packet.stream_index, packet.pts,
      packet.dts, packet.duration, packet.flags, packet.size, packet.pos,
      av_adler32_update(1, packet.data, static_cast<size_t>(packet.size))));
}

Told ToldByLibavformat(const std::string& path) {
  Told told;
  AVFormatContext* format = nullptr;
  if (avformat_open_input(&format, path.c_str(), nullptr, nullptr) < 0 ||
      avformat_find_stream_info(format, nullptr) < 0) {
    avformat_close_input(&format);
    return told;
  }
  TellStreams(*format, told);
  AVPacket* packet = av_packet_alloc();
  while (av_read_frame(format, packet) >= 0) {
    TellPacket(*packet, told);
    av_packet_unref(packet);
  }
  av_packet_free(&packet);
  avformat_close_input(&format);
  return told;
}

// Serves a file until it is lost.
class LosableBytes final : public ByteServer {
 public:
  explicit LosableBytes(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) override {
    if (is_lost_) return -EIO;
    return ::pread(fd_.get(), out.data(), out.size(), offset);
  }
  void Lose() { is_lost_ = true; }

 private:
  ipc::UniqueFd fd_;
  bool is_lost_ = false;
};

class File {
 public:
  explicit File(const std::string& path) : bytes_(path) {
    auto opened = MediaFile::Open(
        MediaBytes(bytes_),
        static_cast<int64_t>(std::filesystem::file_size(path)),
        std::filesystem::path(path).filename().string(), UINT32_MAX);
    if (opened) file_ = *std::move(opened);
  }

  Told Tell() const {
    Told told;
    if (!file_) return told;
    TellStreams(*file_->format(), told);
    AVPacket* packet = av_packet_alloc();
    while (file_->ReadPacket(packet)) TellPacket(*packet, told);
    av_packet_free(&packet);
    return told;
  }

  // Returns whether data of the first picture was hidden while the file was
  // opened. Such data is missing in the packet, which libavformat has kept, and
  // cannot be read from the file any more. Loses the file.
  bool HidSome() {
    if (!file_) return false;
    bytes_.Lose();
    AVPacket* packet = av_packet_alloc();
    bool whole;
    do {
      whole = file_->ReadPacket(packet);
    } while (whole && packet->stream_index != FirstVideo());
    const bool lacks_data = !whole && packet->size > 0;
    av_packet_free(&packet);
    return lacks_data;
  }

 private:
  int FirstVideo() const {
    return av_find_best_stream(file_->format(), AVMEDIA_TYPE_VIDEO, -1, -1,
                               nullptr, 0);
  }

  LosableBytes bytes_;
  std::unique_ptr<MediaFile> file_;
};

// Noise makes slices that are longer than their headers can be.
constexpr char kNoise[] =
    "-f lavfi -i testsrc2=s=240x180:r=25,noise=alls=60:allf=t -f lavfi -i sine "
    "-t 0.8 ";

struct Clip {
  const char* name;
  const char* options;
};

class HiddenPictureData : public testing::TestWithParam<Clip> {};

TEST_P(HiddenPictureData, ChangesNothingThatIsTold) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string path = TemporaryPath(GetParam().name);
  ASSERT_TRUE(
      RunFfmpeg(kNoise + std::string(GetParam().options) + " '" + path + "'"));
  EXPECT_TRUE(File(path).HidSome());
  const Told told = ToldByLibavformat(path);
  EXPECT_GT(told.size(), 30u);
  EXPECT_EQ(File(path).Tell(), told);
}

INSTANTIATE_TEST_SUITE_P(
    Clips, HiddenPictureData,
    testing::Values(
        Clip{"plain.mp4", "-c:v libx264 -c:a aac"},
        Clip{"without_reordering.mp4", "-c:v libx264 -bf 0"},
        Clip{"without_delay_told.mp4",
             "-c:v libx264 -bf 3 -bsf:v h264_metadata=level=auto "
             "-x264-params b-pyramid=strict:ref=5:keyint=10"},
        Clip{"slices.mov", "-c:v libx264 -x264-params slices=5"},
        Clip{"interlaced.mp4", "-c:v libx264 -flags +ildct+ilme -weightp 2"},
        Clip{"refresh.mp4", "-c:v libx264 -x264-params intra-refresh=1"},
        Clip{"fragments.mp4",
             "-c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov -g 10"},
        Clip{"ten_bits.mp4", "-c:v libx264 -pix_fmt yuv422p10le"},
        Clip{"hevc.mp4", "-c:v libx265 -tag:v hvc1 -x265-params log-level=0"},
        Clip{"h264.mkv", "-c:v libx264 -c:a aac -slices 3"},
        Clip{"hevc.mkv", "-c:v libx265 -x265-params log-level=0"},
        Clip{"vp8.webm", "-c:v libvpx -c:a libopus -b:v 2M -auto-alt-ref 1"},
        Clip{"vp9.webm",
             "-c:v libvpx-vp9 -b:v 2M -deadline realtime "
             "-cpu-used 8 -auto-alt-ref 1 -lag-in-frames 10"},
        Clip{"vp9.mp4",
             "-c:v libvpx-vp9 -b:v 2M -deadline realtime "
             "-cpu-used 8 -pix_fmt yuv444p"},
        Clip{"hevc_without_reordering.mp4",
             "-c:v libx265 -pix_fmt yuv420p10le -x265-params "
             "bframes=0:log-level=0"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

using Bytes = std::vector<uint8_t>;

// Returns an EBML element, with a size of 8 bytes.
Bytes Element(uint32_t id, const Bytes& content) {
  Bytes element;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (id >> shift != 0) element.push_back(static_cast<uint8_t>(id >> shift));
  }
  element.push_back(1);
  for (int shift = 48; shift >= 0; shift -= 8) {
    element.push_back(static_cast<uint8_t>(content.size() >> shift));
  }
  element.insert(element.end(), content.begin(), content.end());
  return element;
}

Bytes Text(const std::string& text) { return {text.begin(), text.end()}; }

Bytes Join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// Returns the contents of a block with four packets of the same size.
Bytes Laced(const std::vector<Bytes>& packets, size_t first) {
  constexpr uint8_t kFixedSize = 0x04;
  Bytes block{0x81, 0, static_cast<uint8_t>(first * 40), kFixedSize, 3};
  for (size_t i = first; i < first + 4; ++i) {
    block.insert(block.end(), packets[i].begin(), packets[i].end());
  }
  return block;
}

// Returns the contents of a block whose packet zlib could not make smaller.
Bytes Compressed(const Bytes& packet, size_t number) {
  Bytes block{0x81, 0, static_cast<uint8_t>(number * 40), 0, 0x78, 1, 1};
  const size_t size = packet.size();
  for (const size_t told : {size, ~size}) {
    block.push_back(static_cast<uint8_t>(told));
    block.push_back(static_cast<uint8_t>(told >> 8));
  }
  block.insert(block.end(), packet.begin(), packet.end());
  const uint32_t sum = av_adler32_update(1, packet.data(), size);
  for (int shift = 24; shift >= 0; shift -= 8) {
    block.push_back(static_cast<uint8_t>(sum >> shift));
  }
  return block;
}

std::vector<Bytes> PacketsOf(const std::string& path) {
  std::vector<Bytes> packets;
  AVFormatContext* format = nullptr;
  EXPECT_EQ(avformat_open_input(&format, path.c_str(), nullptr, nullptr), 0);
  AVPacket* packet = av_packet_alloc();
  while (av_read_frame(format, packet) >= 0) {
    packets.emplace_back(packet->data, packet->data + packet->size);
    av_packet_unref(packet);
  }
  av_packet_free(&packet);
  avformat_close_input(&format);
  return packets;
}

std::string Vp8Clip() {
  const std::string path = TemporaryPath("plain.webm");
  EXPECT_TRUE(RunFfmpeg(std::string(kNoise) +
                        "-map 0:v -vframes 8 -c:v libvpx -b:v 2M '" + path +
                        "'"));
  return path;
}

std::string WriteMatroska(const std::string& name, const Bytes& encodings,
                          const std::vector<Bytes>& blocks) {
  const Bytes video =
      Element(0xe0, Join({Element(0xb0, {240}), Element(0xba, {180})}));
  const Bytes track = Element(
      0xae,
      Join({Element(0xd7, {1}), Element(0x73c5, {1}), Element(0x83, {1}),
            Element(0x86, Text("V_VP8")),
            Element(0x23e383, {0x02, 0x62, 0x5a, 0x00}), video, encodings}));
  Bytes cluster = Element(0xe7, {0});
  for (const Bytes& block : blocks) {
    cluster = Join({cluster, Element(0xa3, block)});
  }
  const Bytes all = Join(
      {Element(0x1a45dfa3, Element(0x4282, Text("matroska"))),
       Element(
           0x18538067,
           Join({Element(0x1549a966, Element(0x2ad7b1, {0x0f, 0x42, 0x40})),
                 Element(0x1654ae6b, track), Element(0x1f43b675, cluster)}))});
  const std::string path = TemporaryPath(name);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(all.data()),
             static_cast<std::streamsize>(all.size()));
  return path;
}

TEST(PictureData, PacketsThatShareABlockAreReadAsTheyAre) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  std::vector<Bytes> packets = PacketsOf(Vp8Clip());
  ASSERT_EQ(packets.size(), 8u);
  size_t longest = 0;
  for (const Bytes& packet : packets) {
    longest = std::max(longest, packet.size());
  }
  for (Bytes& packet : packets) packet.resize(longest);
  const std::string path =
      WriteMatroska("laces.mkv", {}, {Laced(packets, 0), Laced(packets, 4)});
  const Told told = ToldByLibavformat(path);
  EXPECT_EQ(told.size(), 3u + 8u);
  EXPECT_EQ(File(path).Tell(), told);
}

TEST(PictureData, PacketsThatAreStoredInZlibAreReadAsTheyAre) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::vector<Bytes> packets = PacketsOf(Vp8Clip());
  ASSERT_EQ(packets.size(), 8u);
  std::vector<Bytes> blocks;
  for (size_t i = 0; i < packets.size(); ++i) {
    blocks.push_back(Compressed(packets[i], i));
  }
  const Bytes zlib = Element(0x4254, {0});
  const std::string path = WriteMatroska(
      "zlib.mkv", Element(0x6d80, Element(0x6240, Element(0x5034, zlib))),
      blocks);
  const Told told = ToldByLibavformat(path);
  EXPECT_EQ(told.size(), 3u + 8u);
  EXPECT_EQ(File(path).Tell(), told);
}

TEST(PictureData, AllFramesOfASuperframeCount) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  // Two layers, as of a stream with spatial scalability: the small one is not
  // shown.
  Bytes superframe;
  std::vector<size_t> sizes;
  for (const char* size : {"320:180", "640:360"}) {
    const std::string path = TemporaryPath("layer.ivf");
    ASSERT_TRUE(RunFfmpeg(std::string(kNoise) + "-map 0:v -vf scale=" + size +
                          " -vframes 1 -c:v libvpx-vp9 -deadline realtime "
                          "-cpu-used 8 -b:v 2M '" +
                          path + "'"));
    Bytes frame = PacketsOf(path).at(0);
    constexpr uint8_t kShown = 0x02;
    if (sizes.empty()) frame[0] &= static_cast<uint8_t>(~kShown);
    sizes.push_back(frame.size());
    superframe = Join({superframe, frame});
  }
  constexpr uint8_t kTwoFramesOfFourBytes = 0xd9;
  superframe.push_back(kTwoFramesOfFourBytes);
  for (const size_t size : sizes) {
    for (int shift = 0; shift < 32; shift += 8) {
      superframe.push_back(static_cast<uint8_t>(size >> shift));
    }
  }
  superframe.push_back(kTwoFramesOfFourBytes);

  const std::string path = TemporaryPath("layers.mp4");
  AVFormatContext* out = nullptr;
  ASSERT_GE(
      avformat_alloc_output_context2(&out, nullptr, nullptr, path.c_str()), 0);
  AVStream* const stream = avformat_new_stream(out, nullptr);
  stream->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
  stream->codecpar->codec_id = AV_CODEC_ID_VP9;
  stream->codecpar->format = AV_PIX_FMT_YUV420P;
  stream->codecpar->width = 320;
  stream->codecpar->height = 180;
  stream->time_base = {1, 25};
  ASSERT_GE(avio_open(&out->pb, path.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(out, nullptr), 0);
  AVPacket* packet = av_packet_alloc();
  ASSERT_EQ(av_new_packet(packet, static_cast<int>(superframe.size())), 0);
  std::copy(superframe.begin(), superframe.end(), packet->data);
  packet->pts = packet->dts = 0;
  packet->flags = AV_PKT_FLAG_KEY;
  EXPECT_EQ(av_write_frame(out, packet), 0);
  EXPECT_EQ(av_write_trailer(out), 0);
  av_packet_free(&packet);
  avio_closep(&out->pb);
  avformat_free_context(out);

  const Told told = ToldByLibavformat(path);
  EXPECT_EQ(told.size(), 4u);
  EXPECT_EQ(File(path).Tell(), told);
}

TEST(PictureData, SharedFilesTellTheSame) {
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  av_log_set_level(AV_LOG_QUIET);
  int compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::string(shared) + "/media")) {
    if (!entry.is_regular_file()) continue;
    if (!File(entry.path()).HidSome()) continue;
    EXPECT_EQ(File(entry.path()).Tell(), ToldByLibavformat(entry.path()))
        << entry.path();
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace bulkhead::worker::demux
