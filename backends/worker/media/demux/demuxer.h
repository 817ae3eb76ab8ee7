// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/allowed_media.h"
#include "backends/worker/media/demux/kept_packets.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/media/demux/missing_end.h"
#include "backends/worker/media/demux/orientation.h"
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
  AllowedMedia allowed = {};
};

// Properties of the chosen stream that the container declares. Sent to the host
// in the schema's Opened or OpenedAudio.
struct StreamFacts {
  int32_t stream_index = -1;
  int32_t stream_id = 0;  // the number that the container has for it
  uint32_t stream_count = 0;
  std::string codec;
  std::string pixel_format;  // may be empty
  std::string container;
  // The size after rotation; 0 where only the bitstream declares the size.
  uint32_t width = 0;
  uint32_t height = 0;
  Orientation orientation;
  bulkhead_rational time_base{};
  bulkhead_rational average_frame_rate{};
  bulkhead_rational base_frame_rate{};
  bulkhead_rational sample_aspect_ratio{};  // aspect after rotation
  uint64_t frame_count = 0;                 // 0 if not declared
  int64_t duration = BULKHEAD_NO_TIMESTAMP;
  // The duration of the whole container.
  int64_t container_microseconds = BULKHEAD_NO_TIMESTAMP;
  // Both durations follow from the size of the file and the bit rate: no header
  // has them.
  bool is_duration_estimated = false;
  int64_t start = BULKHEAD_NO_TIMESTAMP;
  int64_t bit_rate = 0;
  int32_t color_primaries = 2;
  int32_t color_transfer = 2;
  int32_t color_space = 2;
  int32_t color_range = 0;
  int32_t chroma_location = 0;  // as in bulkhead_codec_parameters
  // By how many pictures the orders of decoding and showing may differ.
  int32_t video_delay = 0;
};

// Reads one stream of a media file, as packets in the structs of the C ABI.
//
//     auto demuxer = Demuxer::Open(fd, size, "clip.mp4", -1);
//     while (*(*demuxer)->ReadPacket()) Decode((*demuxer)->packet());
//
// Yields exactly the packets that `ffmpeg -i F -map 0:INDEX` passes to its
// decoder, in the same order. Stream -1 means the first audio stream, or the
// first video stream that is not a cover picture, else the first video stream.
// (ffmpeg's `0:v:0` counts cover pictures, so it is another stream if a cover
// comes first.)
//
// All contents of the file are hostile (media_file.h). Used by one thread.
//
// Failures: as of MediaFile; kNotFound for a file without a stream of the kind
// (kBadInput if the codec of none is known), kInvalidArgument for a stream of
// the other kind.
class Demuxer {
 public:
  // Values of `stream_index` that name no stream: the first of the kind (a
  // cover picture only if there is no other), and the one of
  // av_find_best_stream.
  static constexpr int32_t kFirstStream = -1;
  static constexpr int32_t kBestStream = -2;

  // Borrows `bytes`. Only the base name of `name_hint` is used.
  static ipc::Expected<std::unique_ptr<Demuxer>> Open(
      MediaBytes bytes, int64_t size, std::string_view name_hint,
      int32_t stream_index, StreamKind kind = StreamKind::kVideo,
      DemuxerLimits limits = {});

  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer();

  const StreamFacts& facts() const { return facts_; }

  // Returns the stream's parameters for bulkhead_backend.open. Valid until a
  // seek.
  const bulkhead_codec_parameters& codec_parameters() const {
    return parameters_;
  }

  // Makes an inspector for the packets of this stream. Valid until a seek.
  std::unique_ptr<PacketInspector> MakeInspector() const;
  // Makes what says at which packets of this stream decoding may begin.
  AccessPoints MakeAccessPoints() const;

  // Returns the nine numbers of the stream's display matrix, or null if the
  // stream has none.
  const int32_t* display_matrix_untrusted() const;

  // Reads the next packet. Returns false at the end of the stream, which may be
  // early if the file is damaged. Fails with kBadInput if the descriptor cannot
  // be read, and with kResourceExhausted beyond a limit; after a packet that is
  // too large, the following packets can still be read.
  ipc::Expected<bool> ReadPacket();

  // Returns the first packet, which ReadPacket then reads once more. Returns
  // null if it cannot be read; ReadPacket says why. Only at the beginning.
  const bulkhead_packet* PeekFirst();

  // Returns true if the file turned out to be shorter than its size, as one is
  // that was cut while it is open. Call this after ReadPacket.
  bool shrank() const;
  int64_t size() const { return size_; }

  // Opens the same stream once more, at its beginning.
  ipc::Expected<std::unique_ptr<Demuxer>> OpenAgain() const {
    return Open(bytes_, size_, name_, stream_index_, kind_, limits_);
  }

  // Returns the packet that ReadPacket read; after a seek that did not end at
  // the beginning, the next packet. Valid until the next read or seek.
  const bulkhead_packet& packet() const { return packet_; }
  // Returns whether the container says that no packet refers to this one.
  bool disposable() const;

  // Returns what says that packets of the stream are missing after the last
  // one. Call this after ReadPacket has returned false, of a demuxer that has
  // read on since the beginning or since a seek.
  MissingEnd missing_end() const;

  // Seeks to a keyframe at or before `timestamp` (in the stream's time base),
  // in the worst case to the beginning. The next packet is that keyframe, or
  // the first packet of the stream. Fails with kOutOfRange for a stream that
  // cannot seek; then only SeekToBeginning makes the demuxer usable again.
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);

  // Seeks to the packet with this mark. If the seek does not arrive at that
  // very packet, since libavformat guesses times and positions of raw streams
  // anew after each seek, the next packet is the first one. Fails as
  // SeekToKeyframe.
  ipc::Expected<void> SeekToPacket(const PacketMark& mark);

  // Returns whether the next packet is the first one.
  bool at_beginning() const { return at_beginning_; }
  // Returns the timestamp of the packet that a seek went to. Call this after a
  // seek and unless at_beginning().
  int64_t entry() const;

  // Goes to the first packet by opening the file again. A seek to the beginning
  // would miss the packets before the first keyframe, and frames would differ.
  ipc::Expected<void> SeekToBeginning();

  // Lends the open file, which took time to probe, to a demuxer that reads the
  // same stream from its beginning to its end. Returns null where that might
  // change what this demuxer reads later: unless it has read few packets since
  // the beginning, of an MP4 file. Until TakeBack, nothing else may be called
  // here.
  std::unique_ptr<Demuxer> Lend();
  // Takes the file back, unless reading it has changed it: then the file is
  // opened again, as it is where a packet is read before a seek. That packet is
  // the one that it would have been.
  void TakeBack(std::unique_ptr<Demuxer> borrower);

 private:
  Demuxer(MediaBytes bytes, int64_t size, std::string_view name_hint,
          int32_t stream_index, StreamKind kind, DemuxerLimits limits);

  ipc::Expected<void> OpenInput();
  ipc::Expected<int> ChooseStream() const;
  void CloseInput();
  void DescribeStream();
  bool IsOfKind(const AVStream& stream) const;
  bool NextAvPacket();
  // Seeks to the last packet that is wanted, not after `timestamp`. `is_wanted`
  // looks at packet_, and says through its argument whether to go to the
  // beginning rather than to seek farther back.
  template <typename IsWanted>
  ipc::Expected<void> SeekTo(int64_t timestamp, const IsWanted& is_wanted);
  // Goes back to where this demuxer was when it lent the file.
  ipc::Expected<void> Return();
  // Completes `missing` by the tables of MP4, and by what other headers count.
  void ReadTables(MissingEnd& missing) const;
  void ReadCounts(MissingEnd& missing) const;

  const MediaBytes bytes_;
  const int64_t size_;
  const std::string name_;
  int32_t stream_index_;
  const StreamKind kind_;
  const DemuxerLimits limits_;

  std::unique_ptr<MediaFile> file_;
  AVFormatContext* format_ = nullptr;  // owned by file_
  // Null while lent, after TakeBack of a file that has changed, and after a
  // failed reopening.
  AVStream* stream_ = nullptr;
  AVPacket* av_packet_ = nullptr;
  bool packet_is_pending_ = false;  // av_packet_ was read ahead by a seek
  bool at_beginning_ = true;
  KeptPackets kept_;  // of a borrower: those that it reads first
  bool borrows_ = false;
  std::optional<uint64_t> packets_before_lending_;
  int entries_before_lending_ = 0;  // of the index
  bool packet_too_large_ = false;   // the packet read last exceeds the limit
  bool last_is_marked_ = false;     // the packet read last, by libavformat
  int64_t last_dts_ = BULKHEAD_NO_TIMESTAMP;  // the latest that was read

  StreamFacts facts_;
  bulkhead_codec_parameters parameters_{};
  std::vector<bulkhead_side_data> stream_side_data_;
  bulkhead_packet packet_{};
  std::vector<bulkhead_side_data> packet_side_data_;
};

}  // namespace bulkhead::worker
