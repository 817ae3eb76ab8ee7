// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "backends/worker/media/media_bytes.h"
#include "ipc/error.h"

struct AVIOContext;

namespace bulkhead::worker {

// The bytes of one media file, for libavformat.
//
// It keeps an offset of its own. The sandbox answers fstat with an errno, hence
// the size is told by the host; a file that turns out to be shorter simply
// ends.
//
// One thread. Read failures look like the end of the file to libavformat;
// read_error() tells them apart.
class MediaSource {
 public:
  // `size` in bytes. Asks `may_read` before each read, which fails where it
  // says no. kInternal when memory is short.
  static ipc::Expected<std::unique_ptr<MediaSource>> Create(
      MediaBytes bytes, int64_t size, std::function<bool()> may_read);

  MediaSource(const MediaSource&) = delete;
  MediaSource& operator=(const MediaSource&) = delete;
  ~MediaSource();

  // Owned by the source.
  AVIOContext* context() { return context_; }

  // errno of the first read that failed; 0 if none did.
  int read_error() const { return read_error_; }

 private:
  MediaSource(MediaBytes bytes, int64_t size, std::function<bool()> may_read)
      : bytes_(bytes), size_(size), may_read_(std::move(may_read)) {}

  static int Read(void* self, uint8_t* buffer, int bytes);
  static int64_t Seek(void* self, int64_t offset, int whence);

  const MediaBytes bytes_;
  const int64_t size_;
  const std::function<bool()> may_read_;
  int64_t offset_ = 0;
  int read_error_ = 0;
  AVIOContext* context_ = nullptr;
};

}  // namespace bulkhead::worker
