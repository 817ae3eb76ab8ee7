// SPDX-License-Identifier: Apache-2.0
//
// marked_frames_main FILE [turn]: prints the marks of a file's frames.
//
// The first line is 0 if ffmpeg leaves the pictures as the decoder makes them,
// 1 if it may turn or flip them, and 2 if it would rotate them by an angle that
// is no quarter turn. With `turn`, that is all; nothing is decoded. Otherwise
// there is one line for each frame that
// libavcodec decodes from the first video stream that is no cover, or else from
// the first one: its best timestamp, and 1 if libavcodec marks the frame as
// corrupt. The ffmpeg program decodes the same frames but does not print the
// marks. This is a program of its own, since damaged files can crash it.

#include <cmath>
#include <cstdio>
#include <cstring>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
}

namespace {

// Decodes a packet as the ffmpeg program does: receives frames until an error,
// and drops a packet that the decoder does not accept.
void PrintFrames(AVCodecContext* decoder, const AVPacket* packet,
                 AVFrame* frame) {
  if (avcodec_send_packet(decoder, packet) < 0) return;
  while (avcodec_receive_frame(decoder, frame) >= 0) {
    const bool marked = (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 ||
                        frame->decode_error_flags != 0;
    std::printf("%lld %d\n",
                static_cast<long long>(frame->best_effort_timestamp),
                marked ? 1 : 0);
  }
}

int TurnOf(const AVStream& stream) {
  const uint8_t* const matrix =
      av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
  if (matrix == nullptr) return 0;
  const double degrees = std::round(
      av_display_rotation_get(reinterpret_cast<const int32_t*>(matrix)));
  return std::isfinite(degrees) && std::fmod(degrees, 90) != 0 ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_turn = argc == 3 && std::strcmp(argv[2], "turn") == 0;
  if (argc != 2 && !only_turn) return 2;
  av_log_set_level(AV_LOG_QUIET);
  AVFormatContext* input = nullptr;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "scan_all_pmts", "1", 0);
  if (avformat_open_input(&input, argv[1], nullptr, &options) < 0) return 1;
  (void)avformat_find_stream_info(input, nullptr);
  AVStream* stream = nullptr;
  AVStream* cover = nullptr;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    AVStream* const candidate = input->streams[i];
    candidate->discard = AVDISCARD_ALL;
    if (candidate->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    AVStream*& first =
        candidate->disposition & AV_DISPOSITION_ATTACHED_PIC ? cover : stream;
    if (first == nullptr) first = candidate;
  }
  if (stream == nullptr) stream = cover;
  if (stream == nullptr) return 1;
  std::printf("%d\n", TurnOf(*stream));
  if (only_turn) return 0;
  stream->discard = AVDISCARD_DEFAULT;
  const AVCodec* const codec = avcodec_find_decoder(stream->codecpar->codec_id);
  if (codec == nullptr) return 1;
  AVCodecContext* const decoder = avcodec_alloc_context3(codec);
  (void)avcodec_parameters_to_context(decoder, stream->codecpar);
  decoder->pkt_timebase = stream->time_base;
  decoder->framerate = stream->avg_frame_rate;
  decoder->thread_count = 1;
  decoder->err_recognition = AV_EF_IGNORE_ERR;
  if (avcodec_open2(decoder, codec, nullptr) < 0) return 1;
  AVPacket* const packet = av_packet_alloc();
  AVFrame* const frame = av_frame_alloc();
  while (av_read_frame(input, packet) >= 0) {
    if (packet->stream_index == stream->index && packet->size > 0) {
      PrintFrames(decoder, packet, frame);
    }
    av_packet_unref(packet);
  }
  PrintFrames(decoder, nullptr, frame);
  return 0;
}
