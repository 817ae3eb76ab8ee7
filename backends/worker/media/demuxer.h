// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/media_bytes.h"
#include "backends/worker/media/orientation.h"
#include "ipc/error.h"

struct AVFormatContext;
struct AVPacket;
struct AVStream;

namespace bulkhead::worker {

class MediaFile;
class PacketInspector;

enum class StreamKind { kVideo, kAudio };

struct DemuxerLimits {
  uint32_t streams = UINT32_MAX;
  uint64_t packet_bytes = UINT64_MAX;
};

// What the container tells about the chosen stream; becomes schema Opened or
// OpenedAudio.
struct StreamFacts {
  int32_t stream_index = -1;
  uint32_t stream_count = 0;
  std::string codec;
  std::string pixel_format;  // may be empty
  std::string container;
  uint32_t width = 0;  // after rotation; 0 where only the bitstream tells
  uint32_t height = 0;
  Orientation orientation;
  bulkhead_rational time_base{};
  bulkhead_rational average_frame_rate{};
  bulkhead_rational base_frame_rate{};
  bulkhead_rational sample_aspect_ratio{};  // of the rotated picture
  uint64_t frame_count = 0;                 // 0: not told
  int64_t duration = BULKHEAD_NO_TIMESTAMP;
  int64_t container_microseconds = BULKHEAD_NO_TIMESTAMP;  // its duration
  int64_t start = BULKHEAD_NO_TIMESTAMP;
  int64_t bit_rate = 0;
  int32_t color_primaries = 2;
  int32_t color_transfer = 2;
  int32_t color_space = 2;
  int32_t color_range = 0;
};

// One stream of one media file, as packets in the form of the C ABI.
//
//     auto demuxer = Demuxer::Open(fd, size, "clip.mp4", -1);
//     while (*(*demuxer)->ReadPacket()) Decode((*demuxer)->packet());
//
// Yields exactly the packets that `ffmpeg -i F -map 0:INDEX` hands to its
// decoder, in its order. Stream -1 is the first audio stream or the first video
// stream that is not a cover picture, else the first video stream. (ffmpeg's
// `0:v:0` counts covers: where a cover comes first, that is another stream.)
//
// Everything that the file says is hostile (media_file.h). One thread.
//
// Failures: those of MediaFile, kBadInput for what holds no video, kNotFound
// for what holds no audio, kInvalidArgument for a stream of the other kind.
class Demuxer {
 public:
  // `name_hint` is a base name.
  static ipc::Expected<std::unique_ptr<Demuxer>> Open(
      MediaBytes bytes, int64_t size, std::string_view name_hint,
      int32_t stream_index, StreamKind kind = StreamKind::kVideo,
      DemuxerLimits limits = {});

  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer();

  const StreamFacts& facts() const { return facts_; }

  // For bulkhead_backend.open. Valid until a seek.
  const bulkhead_codec_parameters& codec_parameters() const {
    return parameters_;
  }

  // For the packets of this stream. Valid until a seek.
  std::unique_ptr<PacketInspector> MakeInspector() const;

  // Of the stream's display matrix, nine numbers; null if there is none.
  const int32_t* display_matrix_untrusted() const;

  // False at the end of the stream, which damage may have put early.
  // kBadInput if the descriptor cannot be read, kResourceExhausted for what is
  // beyond a limit; what follows a large packet can be read on.
  ipc::Expected<bool> ReadPacket();

  // What ReadPacket read. Valid until the next read or seek.
  const bulkhead_packet& packet() const { return packet_; }

  // Goes to a keyframe whose timestamp is at or before `timestamp` (stream time
  // base), in the worst case to the beginning. The next packet is that
  // keyframe, or, at the beginning, whatever comes first. kOutOfRange for a
  // stream that cannot seek; then only SeekToBeginning leads on.
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);

  // Whether the next packet is the first one.
  bool at_beginning() const { return at_beginning_; }
  // After SeekToKeyframe, unless at_beginning(): the keyframe's timestamp.
  int64_t entry() const;

  // Opens the file anew: demuxers that seek to their first packet miss the
  // ones before the first keyframe, and frames would differ.
  ipc::Expected<void> SeekToBeginning();

 private:
  Demuxer(MediaBytes bytes, int64_t size, std::string_view name_hint,
          int32_t stream_index, StreamKind kind, DemuxerLimits limits);

  ipc::Expected<void> OpenInput();
  ipc::Expected<int> ChooseStream() const;
  void CloseInput();
  void DescribeStream();
  bool IsOfKind(const AVStream& stream) const;
  bool NextAvPacket();

  const MediaBytes bytes_;
  const int64_t size_;
  const std::string name_;
  int32_t stream_index_;
  const StreamKind kind_;
  const DemuxerLimits limits_;

  std::unique_ptr<MediaFile> file_;
  AVFormatContext* format_ = nullptr;  // of file_
  AVStream* stream_ = nullptr;         // null after a failed reopening
  AVPacket* av_packet_ = nullptr;
  bool packet_is_pending_ = false;  // av_packet_ was read ahead by a seek
  bool at_beginning_ = true;
  bool packet_too_large_ = false;  // what was read last

  StreamFacts facts_;
  bulkhead_codec_parameters parameters_{};
  std::vector<bulkhead_side_data> stream_side_data_;
  bulkhead_packet packet_{};
  std::vector<bulkhead_side_data> packet_side_data_;
};

}  // namespace bulkhead::worker
