// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backends/worker/media/media_bytes.h"
#include "ipc/error.h"

struct AVFormatContext;
struct AVIOContext;
struct AVPacket;

namespace bulkhead::worker {

class MediaSource;

// One media file, opened as a container by libavformat. A Demuxer reads one of
// its streams.
//
// Reads only the given bytes: if the file refers to other files, libavformat's
// attempts to open them are refused. All contents of the file are hostile,
// which is why this code runs in the sandbox. Used by one thread.
//
// Failures: kBadInput for a file that is no media, kUnsupported for a playlist
// of other files, kResourceExhausted without memory or for too many streams.
class MediaFile {
 public:
  // `name` is a base name. Its extension decides between demuxers where the
  // bytes do not.
  static ipc::Expected<std::unique_ptr<MediaFile>> Open(MediaBytes bytes,
                                                        int64_t size,
                                                        std::string_view name,
                                                        uint32_t max_streams);

  MediaFile(const MediaFile&) = delete;
  MediaFile& operator=(const MediaFile&) = delete;
  ~MediaFile();

  // Returns the container. Never null.
  AVFormatContext* format() const { return format_; }
  const std::string& name() const { return name_; }
  // Reads the next packet, of any stream, into `packet`. Returns false at the
  // end, after a failed read and beyond a limit; read_error() and
  // CheckStreams() tell these cases apart.
  bool ReadPacket(AVPacket* packet) const;

  // Returns the errno of the first read that failed, or 0.
  int read_error() const;
  // Returns true if the file turned out to be shorter than it was at opening.
  bool cut_short() const;
  bool refers_to_others() const { return refused_references_ > 0; }
  // Fails once the file has more streams than allowed. Some containers reveal
  // streams only while packets are read, so call this again when reading stops:
  // from the first stream too many on, all of libavformat's reads fail.
  ipc::Expected<void> CheckStreams();

 private:
  MediaFile(std::string_view name, uint32_t max_streams);

  static int RefuseToOpen(AVFormatContext* context, AVIOContext** io,
                          const char* url, int flags, void* options);

  // Returns false once the file has too many streams.
  bool MayReadOn();
  ipc::Error OpenFailure(int av_error);

  const std::string name_;
  const uint32_t max_streams_;
  bool too_many_streams_ = false;
  std::unique_ptr<MediaSource> source_;
  AVFormatContext* format_ = nullptr;
  uint64_t refused_references_ = 0;
};

// Returns libav's text for one of its error numbers.
std::string AvErrorText(int av_error);

}  // namespace bulkhead::worker
