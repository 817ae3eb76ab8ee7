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

namespace bulkhead::worker::demux {

class MediaSource;

// One media file, opened as a container by libavformat. A Demuxer reads one of
// its streams.
//
// Reads only the given bytes: if the file refers to other files, libavformat's
// attempts to open them are refused. All contents of the file are hostile,
// which is why this code runs in the sandbox. Used by one thread.
//
// Two kinds of containers are refused before their demuxers run: those that are
// not allowed, and those without media of their own, which only refer to other
// files. A stream that is not allowed is neither parsed nor decoded:
//   - If the header declares the stream, it is *set aside*: its packets are
//     discarded.
//   - If the stream first appears among the packets that libavformat probes,
//     the file is refused. To find such a stream before any parser runs, Open
//     first reads these packets without parsers.
//   - If the stream first appears after these packets, reading ends there.
//     libavformat has then read at most 32 KiB of the file ahead.
//
// Failures:
//   kBadInput: the file is no media, or cannot be read;
//   kUnsupported: it is a playlist of other files, or media that is not
//     allowed;
//   kResourceExhausted: memory is short, or there are too many streams;
//   kInternal: memory is short for this class's own buffers.
class MediaFile {
 public:
  // `size` is in bytes. `name` is a base name; its extension chooses the
  // demuxer if the bytes fit several.
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
  // end and in three other cases: a failed read (read_error()), a stream that
  // is not allowed or exceeds the limit (CheckStreams()), and another error
  // (stop_error()).
  bool ReadPacket(AVPacket* packet);
  // Returns libavformat's text for the error with which the last ReadPacket
  // ended; empty if it read a packet or reached the end of the file.
  const std::string& stop_error() const { return stop_error_; }

  // Returns the errno of the first read that failed, or 0.
  int read_error() const;
  // Returns true if the file was found to be shorter than `size` of Open.
  bool shrank() const;
  // Returns whether libavformat tried to open another file.
  bool refers_to_others() const { return refused_references_ > 0; }
  // Fails if the file has more streams than allowed, or a stream that is
  // neither allowed nor set aside. Some containers reveal streams only while
  // packets are read. If such a stream is not allowed, or is one too many, all
  // further reads of libavformat fail. So call this again when reading stops.
  ipc::Expected<void> CheckStreams();
  // Fails with kUnsupported if the codec of `stream` is not allowed.
  ipc::Expected<void> CheckCodec(const AVStream& stream) const {
    return allowed_.Check(stream);
  }

 private:
  MediaFile(std::string_view name, uint32_t max_streams,
            const AllowedMedia& allowed);

  // Opens the container, up to the end of its header, with further `flags`
  // (AVFMT_FLAG_*).
  ipc::Expected<void> OpenHeader(MediaBytes bytes, int64_t size, int flags);
  // Returns the places in the file of the packets that libavformat will decode
  // to probe the video streams. The list may be incomplete.
  std::vector<PacketPlace> FirstPackets(MediaBytes bytes, int64_t size) const;
  // Lets libavformat probe the streams: completes the header's description of
  // them from their first packets. Hides picture data meanwhile, so that
  // libavformat does not decode whole pictures. Returns the result of
  // avformat_find_stream_info.
  int FindStreamInfo(MediaBytes bytes, int64_t size);
  // Replaces those bytes of the packet that were hidden when libavformat read
  // it. Returns false if the bytes can no longer be read.
  bool Mend(AVPacket& packet) const;
  // Reads as many bytes of packets as libavformat may read to probe the
  // streams. Fails if a stream among them is not allowed.
  ipc::Expected<void> LookThrough();

  // Counts and refuses an attempt of libavformat to open another file.
  static int RefuseToOpen(AVFormatContext* context, AVIOContext** io,
                          const char* url, int flags, void* options);

  // Returns false once the file has too many streams, or a stream that is
  // neither allowed nor set aside.
  bool MayReadOn();
  // Returns the reason why the file cannot be opened. `av_error` is the error
  // that libavformat returned.
  ipc::Error OpenFailure(int av_error);
  // Returns the error for a file that refers to others. `what` is empty, or
  // describes the file and ends with the word "which".
  ipc::Error Reference(const std::string& what) const;

  const std::string name_;
  const uint32_t max_streams_;
  const AllowedMedia allowed_;
  bool too_many_streams_ = false;
  bool header_is_read_ = false;
  std::vector<bool> set_aside_;  // for each stream that the header declares
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

}  // namespace bulkhead::worker::demux
