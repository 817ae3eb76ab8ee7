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

namespace bulkhead::worker {

class MediaSource;

// One media file, opened as a container: what it declares, whatever streams it
// has. Demuxers read one stream of it.
//
// Bytes come from where it is told to be alone: what a file refers to is
// refused.
// Everything that the file says is hostile; libavformat parses it, and this
// runs in the sandbox for that reason. One thread.
//
// Failures: kBadInput for what is no media, kUnsupported for a playlist of
// other files, kResourceExhausted without memory or for too many streams.
class MediaFile {
 public:
  // `name` is a base name, by whose extension demuxers are chosen where the
  // bytes leave it open.
  static ipc::Expected<std::unique_ptr<MediaFile>> Open(MediaBytes bytes,
                                                        int64_t size,
                                                        std::string_view name,
                                                        uint32_t max_streams);

  MediaFile(const MediaFile&) = delete;
  MediaFile& operator=(const MediaFile&) = delete;
  ~MediaFile();

  // Never null.
  AVFormatContext* format() const { return format_; }
  const std::string& name() const { return name_; }
  // errno of the first read that failed; 0 if none did.
  int read_error() const;
  bool refers_to_others() const { return refused_references_ > 0; }
  // Not OK once it has more streams than it may: some appear on the way. What
  // was read since is cut off.
  ipc::Expected<void> CheckStreams();

 private:
  MediaFile(std::string_view name, uint32_t max_streams);

  static int RefuseToOpen(AVFormatContext* context, AVIOContext** io,
                          const char* url, int flags, void* options);

  // False: it has too many streams.
  bool MayReadOn();
  ipc::Error OpenFailure(int av_error);

  const std::string name_;
  const uint32_t max_streams_;
  bool too_many_streams_ = false;
  std::unique_ptr<MediaSource> source_;
  AVFormatContext* format_ = nullptr;
  uint64_t refused_references_ = 0;
};

// What libav says of an error of its own.
std::string AvErrorText(int av_error);

}  // namespace bulkhead::worker
