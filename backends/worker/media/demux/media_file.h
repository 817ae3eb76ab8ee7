// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/worker/media/demux/allowed_media.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/media/demux/picture_data.h"
#include "ipc/error.h"

struct AVFormatContext;
struct AVIOContext;
struct AVPacket;
struct AVStream;

namespace bulkhead::worker {

class MediaSource;

// One media file, opened as a container by libavformat. A Demuxer reads one of
// its streams.
//
// Reads only the given bytes: if the file refers to other files, libavformat's
// attempts to open them are refused. All contents of the file are hostile,
// which is why this code runs in the sandbox. Used by one thread.
//
// A container that is not allowed, or that has no media of its own but refers
// to other files, is refused before its demuxer runs. A stream that is not
// allowed is neither parsed nor decoded. One that the header declares is set
// aside: its packets are discarded. One that shows itself only among the
// packets refuses the file. To find it before any parser runs, the file is
// first looked through without parsers, as far as libavformat will probe it.
// One that appears even later ends the reading, when libavformat has at most 32
// KiB of the file read ahead.
//
// Failures: kBadInput for a file that is no media, kUnsupported for a playlist
// of other files and for what is not allowed, kResourceExhausted without memory
// or for too many streams.
class MediaFile {
 public:
  // `name` is a base name. Its extension decides between demuxers where the
  // bytes do not.
  static ipc::Expected<std::unique_ptr<MediaFile>> Open(
      MediaBytes bytes, int64_t size, std::string_view name,
      uint32_t max_streams, const AllowedMedia& allowed = {});

  MediaFile(const MediaFile&) = delete;
  MediaFile& operator=(const MediaFile&) = delete;
  ~MediaFile();

  // Returns the container. Never null.
  AVFormatContext* format() const { return format_; }
  const std::string& name() const { return name_; }
  // Reads the next packet, of any stream, into `packet`. Returns false at the
  // end, after a failed read and beyond a limit; read_error(), CheckStreams()
  // and stop_error() tell these cases apart.
  bool ReadPacket(AVPacket* packet);
  // Returns libavformat's text for the error with which it stopped reading
  // packets; empty if it has not, or is at the end of the file.
  const std::string& stop_error() const { return stop_error_; }

  // Returns the errno of the first read that failed, or 0.
  int read_error() const;
  // Returns true if the file turned out to be shorter than it was at opening.
  bool shrank() const;
  // Returns whether picture data was hidden from libavformat's probing
  // (picture_data.h).
  bool hid_picture_data() const;
  bool refers_to_others() const { return refused_references_ > 0; }
  // Fails once the file has more streams than allowed, or one of a codec that
  // refuses the file. Some containers reveal streams only while packets are
  // read, so call this again when reading stops: from the first such stream on,
  // all of libavformat's reads fail.
  ipc::Expected<void> CheckStreams();
  // Fails for a stream that must not be decoded.
  ipc::Expected<void> CheckCodec(const AVStream& stream) const {
    return allowed_.Check(stream);
  }

 private:
  MediaFile(std::string_view name, uint32_t max_streams,
            const AllowedMedia& allowed);

  // Opens the container, up to the end of its header. `flags` are added to
  // the context's.
  ipc::Expected<void> OpenHeader(MediaBytes bytes, int64_t size, int flags);
  // Finds where the packets lie that libavformat will decode to probe the
  // streams, as far as that is known.
  std::vector<PacketPlace> FirstPackets(MediaBytes bytes, int64_t size) const;
  // Completes what the header says of the streams by their first packets, and
  // keeps libavformat from decoding whole pictures for that.
  int FindStreamInfo(MediaBytes bytes, int64_t size);
  // Gives the packet the bytes that were hidden when it was read. Returns false
  // if they cannot be read any more.
  bool Mend(AVPacket& packet) const;
  // Reads as many packets as libavformat will read to probe the streams.
  // Fails for a stream that is not allowed.
  ipc::Expected<void> LookThrough();

  static int RefuseToOpen(AVFormatContext* context, AVIOContext** io,
                          const char* url, int flags, void* options);

  // Returns false once the file has too many streams, or one that is not
  // allowed and not set aside.
  bool MayReadOn();
  ipc::Error OpenFailure(int av_error);
  // Returns the error for a file that refers to others. `what` says what the
  // file is, up to the word "which"; it may be empty.
  ipc::Error Reference(const std::string& what) const;

  const std::string name_;
  const uint32_t max_streams_;
  const AllowedMedia allowed_;
  bool too_many_streams_ = false;
  bool header_is_read_ = false;
  std::vector<bool> set_aside_;  // of the streams that the header declares
  const AVStream* refused_stream_ = nullptr;
  std::unique_ptr<MediaSource> source_;
  // The packets whose bytes were hidden while the streams were probed.
  std::vector<PacketPlace> first_packets_;
  AVFormatContext* format_ = nullptr;
  uint64_t refused_references_ = 0;
  std::string stop_error_;
};

// Returns libav's text for one of its error numbers.
std::string AvErrorText(int av_error);

}  // namespace bulkhead::worker
