// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

struct AVFormatContext;
struct AVPacket;

namespace bulkhead::sdk {

// The first video stream of a file, or the first of audio, whole, in the
// structs of the C ABI.
class Clip {
 public:
  // nullptr if the file has no stream of that kind (BULKHEAD_STREAM_*) that
  // libavformat can read.
  static std::unique_ptr<Clip> Read(
      const std::string& path, uint32_t stream_kind = BULKHEAD_STREAM_VIDEO);

  // Makes a small clip with the ffmpeg program: `arguments` say what comes
  // between the options of ours and the path. nullptr where there is no
  // ffmpeg or it cannot do that; tests then skip.
  static std::unique_ptr<Clip> Make(
      const std::string& name, const std::vector<std::string>& arguments,
      uint32_t stream_kind = BULKHEAD_STREAM_VIDEO);

  ~Clip();
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

  const std::string& path() const { return path_; }
  const bulkhead_codec_parameters& parameters() const { return parameters_; }
  const std::vector<bulkhead_packet>& packets() const { return packets_; }

 private:
  Clip() = default;
  void AddPacket(const AVPacket& packet);

  std::string path_;
  AVFormatContext* container_ = nullptr;
  bulkhead_codec_parameters parameters_{};
  std::vector<bulkhead_side_data> stream_side_data_;
  std::vector<AVPacket*> owned_;
  std::vector<std::unique_ptr<std::vector<bulkhead_side_data>>> side_data_;
  std::vector<bulkhead_packet> packets_;
};

// A picture without the padding between its rows; or decoded samples, plane
// after plane, with their number for a width and the channels for a height.
struct Picture {
  int64_t pts;
  int32_t width;
  int32_t height;
  std::string pixel_format;
  std::vector<uint8_t> pixels;
  bool operator==(const Picture&) const = default;
};

Picture CopyPicture(const bulkhead_frame& frame);

// What became of a clip.
struct Decoded {
  bulkhead_result opened = BULKHEAD_FAILED;
  std::string open_error;
  std::vector<Picture> pictures;
  int bad_packets = 0;
  // The first result that ended decoding early, and its sentence.
  bulkhead_result failure = BULKHEAD_OK;
  std::string error;
};

struct DecodeOptions {
  uint32_t device = 0;
  uint32_t threads = 1;
  uint64_t max_frame_pixels = 0;
  std::vector<bulkhead_option> options;
};

bulkhead_open_parameters OpenParameters(const Clip& clip,
                                        const DecodeOptions& options);

// Feeds an open decoder as FFmpeg does: damaged packets are skipped.
void DecodeAll(const bulkhead_backend& backend, bulkhead_decoder* decoder,
               const std::vector<bulkhead_packet>& packets, Decoded* decoded);

// Opens, decodes the whole clip and closes.
Decoded Decode(const bulkhead_backend& backend, const bulkhead_runtime& runtime,
               const Clip& clip, const DecodeOptions& options = {});

}  // namespace bulkhead::sdk
