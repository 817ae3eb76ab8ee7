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
#include "backends/worker/media/demux/stream_choice.h"
#include "backends/worker/media/demux/stream_facts.h"
#include "ipc/error.h"

struct AVFormatContext;
struct AVPacket;
struct AVStream;

namespace bulkhead::worker::damage {
class PacketInspector;
}  // namespace bulkhead::worker::damage

namespace bulkhead::worker::demux {

class MediaFile;

// The application's limits on reading a file.
struct DemuxerLimits {
  uint32_t streams = UINT32_MAX;
  uint64_t packet_bytes = UINT64_MAX;
  AllowedMedia allowed = {};
};

// Reads one stream of a media file, as packets in the structs of the C ABI.
//
//     auto demuxer = Demuxer::Open(fd, size, "clip.mp4", kFirstStream);
//     while (*(*demuxer)->ReadPacket()) Decode((*demuxer)->packet());
//
// Yields exactly the packets that `ffmpeg -i F -map 0:INDEX` passes to its
// decoder, in the same order.
//
// All contents of the file are hostile (media_file.h). Used by one thread.
// Fails as MediaFile and ChooseStream do.
class Demuxer {
 public:
  // Borrows `bytes`. Only the base name of `name_hint` is used. `stream_index`
  // is the index of a stream, kFirstStream or kBestStream (stream_choice.h).
  static ipc::Expected<std::unique_ptr<Demuxer>> Open(
      MediaBytes bytes, int64_t size, std::string_view name_hint,
      int32_t stream_index, StreamKind kind = StreamKind::kVideo,
      DemuxerLimits limits = {});

  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer();

  const StreamFacts& facts() const { return facts_; }

  // Returns the stream's parameters for bulkhead_backend.open. Valid until the
  // next seek.
  const bulkhead_codec_parameters& codec_parameters() const {
    return parameters_;
  }

  // Returns a new inspector for the packets of this stream.
  std::unique_ptr<damage::PacketInspector> MakeInspector() const;
  // Returns a new finder of this stream's points of access.
  AccessPoints MakeAccessPoints() const;

  // Returns the nine numbers of the stream's display matrix, or null if the
  // stream has none.
  const int32_t* display_matrix_untrusted() const;

  // Reads the next packet. Returns false at the end of the stream, which may be
  // early if the file is damaged. Fails with kBadInput if the file cannot be
  // read, and with kResourceExhausted above a limit of DemuxerLimits. After a
  // packet that is too large, the following packets can still be read.
  ipc::Expected<bool> ReadPacket();

  // Returns the first packet without consuming it: ReadPacket then reads the
  // same packet. Returns null if the packet cannot be read; the next ReadPacket
  // then fails with the reason. Call this only at the beginning.
  const bulkhead_packet* PeekFirst();

  // Returns true if the file was found to be shorter than size(), because it
  // was cut while it was open. Call this after ReadPacket.
  bool shrank() const;
  int64_t size() const { return size_; }

  // Opens the same stream once more, at its beginning.
  ipc::Expected<std::unique_ptr<Demuxer>> OpenAgain() const {
    return Open(bytes_, size_, name_, stream_index_, kind_, limits_);
  }

  // Returns the packet that ReadPacket read. After a seek that did not end at
  // the beginning, returns the packet that ReadPacket will read next. Valid
  // until the next read or seek.
  const bulkhead_packet& packet() const { return packet_; }
  // Returns whether the container calls packet() disposable, which means that
  // no other packet refers to it.
  bool disposable() const;

  // Returns the signs that packets of the stream are missing after the last
  // one. Call this after ReadPacket has returned false. Every packet since the
  // beginning or a seek must have been read.
  MissingEnd missing_end() const;

  // Seeks to a keyframe at or before `timestamp` (in the stream's time base),
  // in the worst case to the beginning. The next packet is that keyframe, or
  // the first packet of the stream. Fails with kOutOfRange for a stream that
  // cannot seek; then only SeekToBeginning makes the demuxer usable again.
  ipc::Expected<void> SeekToKeyframe(int64_t timestamp);

  // Seeks to the packet with this mark. If that very packet is not found, the
  // next packet is the first one of the stream. (libavformat guesses times and
  // positions of raw streams anew after each seek.) Fails as SeekToKeyframe.
  ipc::Expected<void> SeekToPacket(const PacketMark& mark);

  // Returns whether the next packet is the first one.
  bool at_beginning() const { return at_beginning_; }
  // Returns the timestamp of the packet to which the last seek went. Call this
  // only after a seek that did not end at the beginning.
  int64_t entry() const;

  // Goes to the first packet by opening the file again. libavformat's own seek
  // would miss the packets before the first keyframe, and frames would differ.
  ipc::Expected<void> SeekToBeginning();

  // Lends the open file to a new demuxer, the borrower, which reads the same
  // stream from its beginning to its end (for the index). That saves the time
  // to open and probe the file once more. Until TakeBack, call nothing else.
  //
  // Lends only an MP4 file, and only while this demuxer has read few packets
  // since the beginning. In other cases returns null, since this demuxer might
  // read different packets later.
  std::unique_ptr<Demuxer> Lend();
  // Takes the file back from the borrower, which is at the end of the file. If
  // a seek comes next, it uses the open file. If a ReadPacket comes next, it
  // opens the file again and skips the packets that were read before Lend().
  // Does not take the file back if the borrower could not read it, found it
  // shorter, or made libavformat's index of it grow. A seek then opens the file
  // again, too.
  void TakeBack(std::unique_ptr<Demuxer> borrower);

 private:
  Demuxer(MediaBytes bytes, int64_t size, std::string_view name_hint,
          int32_t stream_index, StreamKind kind, DemuxerLimits limits);

  ipc::Expected<void> OpenInput();
  void CloseInput();
  // Reads the next packet of the stream into av_packet_. Returns false if there
  // is none, or if it is too large (packet_too_large_).
  bool NextAvPacket();
  // Seeks to a wanted packet at or before `timestamp`, or to the beginning if
  // none is found. `is_wanted` returns whether packet_ is wanted. It sets its
  // bool argument to true once a seek farther back cannot find a wanted packet.
  template <typename IsWanted>
  ipc::Expected<void> SeekTo(int64_t timestamp, const IsWanted& is_wanted);
  // Opens the file again, and skips the packets that were read before Lend().
  ipc::Expected<void> Return();

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
  // av_packet_ was read ahead (by a seek, by PeekFirst) and is the next packet.
  bool packet_is_pending_ = false;
  bool at_beginning_ = true;
  // The packets since the beginning; in a borrower, the packets to read first.
  KeptPackets kept_;
  bool borrows_ = false;  // this demuxer was made by Lend
  // Set from Lend until this demuxer seeks or reads again.
  std::optional<uint64_t> packets_before_lending_;
  int entries_before_lending_ = 0;  // the size of libavformat's index
  bool packet_too_large_ = false;   // the packet read last exceeds the limit
  bool last_is_marked_ = false;     // libavformat calls packet_ corrupt
  int64_t last_dts_ = BULKHEAD_NO_TIMESTAMP;  // the latest of all read packets

  StreamFacts facts_;
  bulkhead_codec_parameters parameters_{};
  std::vector<bulkhead_side_data> stream_side_data_;
  bulkhead_packet packet_{};
  std::vector<bulkhead_side_data> packet_side_data_;
};

}  // namespace bulkhead::worker::demux
