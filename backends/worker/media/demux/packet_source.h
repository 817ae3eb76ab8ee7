// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/worker/media/demux/allowed_media.h"
#include "backends/worker/media/demux/kept_packets.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/media/demux/missing_end.h"
#include "backends/worker/media/demux/stream_choice.h"
#include "backends/worker/media/demux/stream_facts.h"
#include "ipc/error.h"

struct AVPacket;
struct AVStream;

namespace bulkhead::worker::demux {

class MediaFile;

// The application's limits on reading a file.
struct DemuxerLimits {
  uint32_t streams = UINT32_MAX;
  uint64_t packet_bytes = UINT64_MAX;
  AllowedMedia allowed = {};
};

// A stream of a media file.
struct StreamPlace {
  MediaBytes bytes;  // borrowed
  int64_t size;      // of the file
  std::string name;  // the base name of the file
  // The index of a stream, kFirstStream or kBestStream (stream_choice.h).
  int32_t stream_index;
  StreamKind kind;
  DemuxerLimits limits;
};

// Gives the packets of one stream of a media file, as libavformat reads them. A
// Demuxer reads and seeks with it.
//
// Can lend its open file to a second source, the borrower, which reads the same
// stream from the first packet to the last. That saves the time to open and
// probe the file once more. So each source keeps its first packets: a borrower
// gives these, and then goes on in the file. Afterwards the lender takes the
// file back for seeks. If it has to read on instead, it opens the file again
// and skips the packets that it has already given.
//
// All contents of the file are hostile (media_file.h). Used by one thread.
// Fails as MediaFile and ChooseStream do.
class PacketSource {
 public:
  // Opens a stream at its first packet.
  static ipc::Expected<std::unique_ptr<PacketSource>> Open(StreamPlace place);

  PacketSource(const PacketSource&) = delete;
  PacketSource& operator=(const PacketSource&) = delete;
  ~PacketSource();

  // Returns the place, with the index that was chosen.
  const StreamPlace& place() const { return place_; }
  const StreamFacts& facts() const { return facts_; }
  // Returns the stream in the open file. Returns null while the file is lent,
  // after TakeBack of a file that has changed, and after a failed Reopen.
  AVStream* stream() const { return stream_; }
  // Returns whether the file is open at the place of the next packet. It is not
  // from Lend until the next Read, Seek or Reopen.
  bool in_place() const { return stream_ != nullptr && !given_before_lending_; }

  // Reads the next packet() of the stream. Returns false at the end, which may
  // be early if the file is damaged. Fails with kBadInput if the file cannot be
  // read, and with kResourceExhausted above a limit. After a packet that is too
  // large, the following packets can still be read.
  ipc::Expected<bool> Read();
  const AVPacket& packet() const { return *packet_; }
  // Seeks as av_seek_frame does with AVSEEK_FLAG_BACKWARD. Needs a stream().
  // Fails with kOutOfRange if the stream cannot seek.
  ipc::Expected<void> Seek(int64_t timestamp);
  // Closes the file and opens it again, at the first packet.
  ipc::Expected<void> Reopen();

  // These two are as in Demuxer.
  bool shrank() const;
  MissingEnd missing_end(const LastPacket& last) const;

  // Returns the borrower, or null if this source might give different packets
  // later. So it lends only an MP4 file, and only while all packets since the
  // first are kept. Until TakeBack, only place() and facts() may be called.
  std::unique_ptr<PacketSource> Lend();
  // Takes the file back from the borrower. Leaves it to the borrower if the
  // borrower could not read it, found it shorter, or made libavformat's index
  // of it grow. Then stream() is null until Reopen, which Read calls itself.
  void TakeBack(PacketSource& borrower);

 private:
  explicit PacketSource(StreamPlace place);

  StreamPlace place_;
  std::unique_ptr<MediaFile> file_;
  AVStream* stream_ = nullptr;  // owned by file_
  AVPacket* packet_;
  StreamFacts facts_;
  // The packets since the first; in a borrower, the packets to give first.
  KeptPackets kept_;
  bool borrows_ = false;  // this source was made by Lend
  // The number of packets that this source gave before Lend. Set from Lend
  // until the next Read, Seek or Reopen.
  std::optional<uint64_t> given_before_lending_;
  int entries_before_lending_ = 0;  // the size of libavformat's index
};

}  // namespace bulkhead::worker::demux
