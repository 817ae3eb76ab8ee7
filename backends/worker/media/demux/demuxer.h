// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/media/demux/missing_end.h"
#include "backends/worker/media/demux/packet_source.h"
#include "backends/worker/media/demux/stream_choice.h"
#include "backends/worker/media/demux/stream_facts.h"
#include "ipc/error.h"

namespace bulkhead::worker::damage {
class PacketInspector;
}  // namespace bulkhead::worker::damage

namespace bulkhead::worker::demux {

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

  const StreamFacts& facts() const { return source_->facts(); }

  // Returns the stream's parameters for bulkhead_backend.open. Valid until the
  // next read or seek.
  const bulkhead_codec_parameters& codec_parameters();

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
  bool shrank() const { return source_->shrank(); }
  int64_t size() const { return source_->place().size; }

  // Opens the same stream once more, at its beginning.
  ipc::Expected<std::unique_ptr<Demuxer>> OpenAgain() const;

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
  MissingEnd missing_end() const { return source_->missing_end(last_); }

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
  // stream from its beginning to its end (for the index). Until TakeBack, call
  // nothing else. Returns null if this demuxer might read different packets
  // later (PacketSource::Lend).
  std::unique_ptr<Demuxer> Lend();
  // Takes the file back from the borrower, which is at the end of the file.
  void TakeBack(std::unique_ptr<Demuxer> borrower) {
    source_->TakeBack(*borrower->source_);
  }

 private:
  // `source` must be at the first packet.
  explicit Demuxer(std::unique_ptr<PacketSource> source)
      : source_(std::move(source)) {}

  // Seeks to a wanted packet at or before `timestamp`, or to the beginning if
  // none is found. `is_wanted` returns whether packet_ is wanted. It sets its
  // bool argument to true once a seek farther back cannot find a wanted packet.
  template <typename IsWanted>
  ipc::Expected<void> SeekTo(int64_t timestamp, const IsWanted& is_wanted);

  const std::unique_ptr<PacketSource> source_;
  // The source's packet was read ahead (by a seek, by PeekFirst) and is the
  // next packet.
  bool packet_is_pending_ = false;
  bool at_beginning_ = true;
  LastPacket last_;

  bulkhead_codec_parameters parameters_{};
  std::vector<bulkhead_side_data> stream_side_data_;
  bulkhead_packet packet_{};
  std::vector<bulkhead_side_data> packet_side_data_;
};

}  // namespace bulkhead::worker::demux
