// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/worker/media/demux/byte_range.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "ipc/error.h"

struct AVIOContext;

namespace bulkhead::worker {

// Passes the bytes of one media file to libavformat.
//
// Can hide ranges of the file for a while: libavformat then reads 0xff in their
// place (picture_data.h says what for). Its packets that it read meanwhile
// have to be mended with ReadHidden.
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

  // Hides the ranges until Unhide. They must not overlap.
  void Hide(std::vector<ByteRange> ranges);
  // Shows the whole file from the next read on. What libavformat has read ahead
  // is read again.
  void Unhide();
  // Returns whether the last Hide hid anything.
  bool has_hidden() const { return !ranges_.empty(); }
  // Returns whether it hid any of these bytes.
  bool Hid(ByteRange read) const;
  // Overwrites `out`, which libavformat has read at `offset`, with the bytes of
  // the file where some of them were hidden. Returns false if they cannot be
  // read, as read_error() or shrank() then says.
  bool ReadHidden(int64_t offset, std::span<uint8_t> out);

  // Owned by the source.
  AVIOContext* context() { return context_; }

  // Returns the errno of the first read that failed, or 0.
  int read_error() const { return read_error_; }
  // Returns true if the file turned out to be shorter than `size`.
  bool shrank() const { return shrank_; }

 private:
  MediaSource(MediaBytes bytes, int64_t size, std::function<bool()> may_read)
      : bytes_(bytes), size_(size), may_read_(std::move(may_read)) {}

  // Returns how many bytes it read, 0 at the end, or an error of libav.
  int ReadBytes(int64_t offset, std::span<uint8_t> out);
  static int Read(void* self, uint8_t* buffer, int bytes);
  static int64_t Seek(void* self, int64_t offset, int whence);

  const MediaBytes bytes_;
  const int64_t size_;
  const std::function<bool()> may_read_;
  std::vector<ByteRange> ranges_;
  bool hides_ = false;
  int64_t offset_ = 0;
  int read_error_ = 0;
  bool shrank_ = false;
  AVIOContext* context_ = nullptr;
};

}  // namespace bulkhead::worker
