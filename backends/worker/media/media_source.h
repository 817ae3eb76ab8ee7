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

// Passes the bytes of one media file to libavformat.
//
// Keeps an offset of its own. The host passes the size, since the sandbox makes
// fstat fail; a file that is shorter than that simply ends early.
//
// Used by one thread. libavformat cannot tell a failed read from the end of the
// file; read_error() can.
class MediaSource {
 public:
  // `size` is in bytes. Calls `may_read` before each read; the read fails if
  // the answer is false. Fails with kInternal when memory is short.
  static ipc::Expected<std::unique_ptr<MediaSource>> Create(
      MediaBytes bytes, int64_t size, std::function<bool()> may_read);

  MediaSource(const MediaSource&) = delete;
  MediaSource& operator=(const MediaSource&) = delete;
  ~MediaSource();

  // Owned by the source.
  AVIOContext* context() { return context_; }

  // Returns the errno of the first read that failed, or 0.
  int read_error() const { return read_error_; }
  // Returns true if the file turned out to be shorter than `size`.
  bool cut_short() const { return cut_short_; }

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
  bool cut_short_ = false;
  AVIOContext* context_ = nullptr;
};

}  // namespace bulkhead::worker
