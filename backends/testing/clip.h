// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

struct AVFormatContext;
struct AVPacket;

namespace bulkhead::fake {

// Holds all packets of the first video or audio stream of a file, in the
// structs of the C ABI.
//
// The structs are made by the worker's own translation
// (backends/libav_format/stream_to_abi.h), so that a test feeds a backend
// exactly the structs that a worker would. The translation has tests of its
// own.
class Clip {
 public:
  // Reads a file. Returns nullptr if libavformat cannot read it or finds no
  // stream of `stream_kind` (BULKHEAD_STREAM_*).
  static std::unique_ptr<Clip> Read(
      const std::string& path, uint32_t stream_kind = BULKHEAD_STREAM_VIDEO);

  // Makes a clip with the ffmpeg program and reads it. `name` is its file name,
  // `arguments` are the words before its path on the command line. Returns
  // nullptr if ffmpeg is missing or fails; tests then skip.
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

// A copied picture without padding between its rows. For audio, `pixels` holds
// the samples, plane after plane, `width` is the number of samples and `height`
// the number of channels.
struct Picture {
  int64_t pts;
  int32_t width;
  int32_t height;
  std::string pixel_format;
  std::vector<uint8_t> pixels;
  bool operator==(const Picture&) const = default;
};

Picture CopyPicture(const bulkhead_frame& frame);

// The result of decoding a clip.
struct Decoded {
  bulkhead_result opened = BULKHEAD_FAILED;  // the result of open
  std::string open_error;
  std::vector<Picture> pictures;
  std::vector<int64_t> damaged;  // timestamps of pictures marked as damaged
  int errors = 0;                // the number of pictures with met_error
  int bad_packets = 0;           // the number of BAD_INPUT results
  // The result that ended decoding early (OK if none did), and the backend's
  // sentence about it.
  bulkhead_result failure = BULKHEAD_OK;
  std::string error;
};

struct DecodeOptions {
  uint32_t device = 0;
  uint32_t threads = 1;
  uint64_t max_frame_pixels = 0;
  std::vector<bulkhead_option> options;
};

// The result points into `clip` and `options`.
bulkhead_open_parameters OpenParameters(const Clip& clip,
                                        const DecodeOptions& options);

// Sends all packets and the end to an open decoder, and adds its pictures and
// failures to `decoded`. Continues after damaged packets, as FFmpeg does.
void DecodeAll(const bulkhead_backend& backend, bulkhead_decoder* decoder,
               const std::vector<bulkhead_packet>& packets, Decoded* decoded);

// Opens a decoder, decodes the whole clip and closes the decoder.
Decoded Decode(const bulkhead_backend& backend, const bulkhead_runtime& runtime,
               const Clip& clip, const DecodeOptions& options = {});

}  // namespace bulkhead::fake
