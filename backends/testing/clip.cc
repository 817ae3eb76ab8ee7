// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/clip.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
}

#include "backends/libav_format/stream_to_abi.h"

#ifdef __SANITIZE_THREAD__
// The system's libav libraries are not instrumented, so ThreadSanitizer does
// not see their locking.
extern "C" const char* __tsan_default_suppressions() {
  return "race:libavcodec.so\nrace:libavutil.so\nrace:libdav1d.so\n"
         "called_from_lib:libavcodec.so\ncalled_from_lib:libavutil.so\n"
         "called_from_lib:libdav1d.so\n";
}
#endif

namespace bulkhead::fake {
namespace {

bool RunFfmpeg(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"ffmpeg", "-nostdin", "-v", "error", "-y"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child;
  if (posix_spawnp(&child, "ffmpeg", nullptr, nullptr, argv.data(), environ) !=
      0) {
    return false;
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

Picture CopySamples(const bulkhead_frame& frame) {
  Picture picture = {.pts = frame.pts,
                     .width = frame.sample_count,
                     .height = frame.channels,
                     .pixel_format = frame.sample_format,
                     .pixels = {}};
  const AVSampleFormat format = av_get_sample_fmt(frame.sample_format);
  const int planes = av_sample_fmt_is_planar(format) ? frame.channels : 1;
  const int bytes =
      av_samples_get_buffer_size(nullptr, frame.channels, frame.sample_count,
                                 format, /*align=*/1) /
      planes;
  for (int i = 0; i < planes; ++i) {
    picture.pixels.insert(picture.pixels.end(), frame.planes[i],
                          frame.planes[i] + bytes);
  }
  return picture;
}

// Copies frames to `decoded` until receive_frame returns neither OK nor
// BAD_INPUT. Returns that result.
bulkhead_result TakeFrames(const bulkhead_backend& backend,
                           bulkhead_decoder* decoder, Decoded* decoded) {
  for (;;) {
    bulkhead_frame frame = {.size = sizeof(frame)};
    const bulkhead_result result = backend.receive_frame(decoder, &frame);
    if (result == BULKHEAD_BAD_INPUT) {
      ++decoded->bad_packets;
      continue;
    }
    if (result != BULKHEAD_OK) return result;
    decoded->pictures.push_back(CopyPicture(frame));
    if (frame.damaged != 0) decoded->damaged.push_back(frame.pts);
    if (frame.met_error != 0) ++decoded->errors;
    backend.release_frame(decoder, &frame);
  }
}

}  // namespace

std::unique_ptr<Clip> Clip::Read(const std::string& path,
                                 uint32_t stream_kind) {
  std::unique_ptr<Clip> clip(new Clip);
  clip->path_ = path;
  av_log_set_level(AV_LOG_QUIET);
  if (avformat_open_input(&clip->container_, path.c_str(), nullptr, nullptr) <
          0 ||
      avformat_find_stream_info(clip->container_, nullptr) < 0) {
    return nullptr;
  }
  const AVMediaType type = stream_kind == BULKHEAD_STREAM_AUDIO
                               ? AVMEDIA_TYPE_AUDIO
                               : AVMEDIA_TYPE_VIDEO;
  int chosen = -1;
  for (unsigned i = 0; i < clip->container_->nb_streams && chosen < 0; ++i) {
    const AVCodecParameters* codec = clip->container_->streams[i]->codecpar;
    if (codec->codec_type == type) chosen = static_cast<int>(i);
  }
  if (chosen < 0) return nullptr;
  clip->parameters_ = libav_format::ParametersOf(
      *clip->container_->streams[chosen], &clip->stream_side_data_);
  AVPacket* packet = av_packet_alloc();
  while (av_read_frame(clip->container_, packet) >= 0) {
    if (packet->stream_index == chosen) clip->AddPacket(*packet);
    av_packet_unref(packet);
  }
  av_packet_free(&packet);
  return clip;
}

std::unique_ptr<Clip> Clip::Make(const std::string& name,
                                 const std::vector<std::string>& arguments,
                                 uint32_t stream_kind) {
  const char* directory = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(directory != nullptr ? directory : "/tmp") + "/" + name;
  std::vector<std::string> words = arguments;
  words.push_back(path);
  return RunFfmpeg(words) ? Read(path, stream_kind) : nullptr;
}

Clip::~Clip() {
  for (AVPacket* packet : owned_) av_packet_free(&packet);
  avformat_close_input(&container_);
}

void Clip::AddPacket(const AVPacket& packet) {
  const AVPacket& kept = *owned_.emplace_back(av_packet_clone(&packet));
  auto& side_data = *side_data_.emplace_back(
      std::make_unique<std::vector<bulkhead_side_data>>());
  packets_.push_back(libav_format::PacketOf(kept, &side_data));
}

Picture CopyPicture(const bulkhead_frame& frame) {
  if (frame.sample_count > 0) return CopySamples(frame);
  Picture picture = {.pts = frame.pts,
                     .width = frame.width,
                     .height = frame.height,
                     .pixel_format = frame.pixel_format,
                     .pixels = {}};
  const AVPixelFormat format = av_get_pix_fmt(frame.pixel_format);
  picture.pixels.resize(
      av_image_get_buffer_size(format, frame.width, frame.height, 1));
  av_image_copy_to_buffer(picture.pixels.data(),
                          static_cast<int>(picture.pixels.size()), frame.data,
                          frame.stride, format, frame.width, frame.height, 1);
  return picture;
}

bulkhead_open_parameters OpenParameters(const Clip& clip,
                                        const DecodeOptions& options) {
  return {
      .size = sizeof(bulkhead_open_parameters),
      .device = options.device,
      .codec = &clip.parameters(),
      .threads = options.threads,
      .incarnation = 1,
      .options = options.options.data(),
      .option_count = options.options.size(),
      .max_frame_pixels = options.max_frame_pixels,
  };
}

void DecodeAll(const bulkhead_backend& backend, bulkhead_decoder* decoder,
               const std::vector<bulkhead_packet>& packets, Decoded* decoded) {
  for (size_t i = 0; i <= packets.size(); ++i) {
    const bool end = i == packets.size();  // after the last packet
    const bulkhead_result sent =
        backend.send_packet(decoder, end ? nullptr : &packets[i]);
    bulkhead_result result = sent;
    if (sent == BULKHEAD_BAD_INPUT) {
      ++decoded->bad_packets;
      result = BULKHEAD_OK;
    }
    if (result == BULKHEAD_OK || result == BULKHEAD_AGAIN) {
      result = TakeFrames(backend, decoder, decoded);
    }
    // The decoder has to need a packet, or to be done after the last one.
    if (result != (end ? BULKHEAD_END_OF_STREAM : BULKHEAD_AGAIN)) {
      decoded->failure = result;
      decoded->error = backend.last_error(decoder);
      return;
    }
    if (sent == BULKHEAD_AGAIN) --i;  // sends the same packet again
  }
}

Decoded Decode(const bulkhead_backend& backend, const bulkhead_runtime& runtime,
               const Clip& clip, const DecodeOptions& options) {
  Decoded decoded;
  const bulkhead_open_parameters parameters = OpenParameters(clip, options);
  bulkhead_decoder* decoder = nullptr;
  decoded.opened = backend.open(&parameters, &runtime, &decoder);
  if (decoded.opened != BULKHEAD_OK) {
    decoded.open_error = backend.last_error(nullptr);
    return decoded;
  }
  DecodeAll(backend, decoder, clip.packets(), &decoded);
  backend.close(decoder);
  return decoded;
}

}  // namespace bulkhead::fake
