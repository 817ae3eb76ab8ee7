// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/adler32.h>
#include <libavutil/log.h>
}

#include "backends/worker/media/ffmpeg_reference.h"
#include "backends/worker/media/media_file.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker {
namespace {

// Everything that libavformat tells of a file, as lines of text.
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

class File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        size_(static_cast<int64_t>(std::filesystem::file_size(path))) {
    auto opened = MediaFile::Open(
        fd_.get(), size_, std::filesystem::path(path).filename().string(),
        UINT32_MAX);
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

  // Returns whether picture data was hidden while the file was opened.
  bool HidSome() const { return file_ && file_->hid_picture_data(); }

 private:
  ipc::UniqueFd fd_;
  int64_t size_;
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
  const File file(path);
  EXPECT_TRUE(file.HidSome());
  const Told told = ToldByLibavformat(path);
  EXPECT_GT(told.size(), 30u);
  EXPECT_EQ(file.Tell(), told);
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

TEST(PictureData, SharedFilesTellTheSame) {
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  av_log_set_level(AV_LOG_QUIET);
  int compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::string(shared) + "/media")) {
    if (!entry.is_regular_file()) continue;
    const File file(entry.path());
    if (!file.HidSome()) continue;
    EXPECT_EQ(file.Tell(), ToldByLibavformat(entry.path())) << entry.path();
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace bulkhead::worker
