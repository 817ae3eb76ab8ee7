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

namespace bulkhead::worker::demux {

// Passes the bytes of one media file to libavformat.
//
// Can hide ranges of the file for a while: libavformat then reads bytes of 0xff
// in their place (picture_data.h says why). Packets that libavformat reads
// while ranges are hidden must be repaired with ReadHidden.
//
// Keeps a read offset of its own. The size comes from the host, since the
// sandbox makes fstat fail. A file that is shorter than this size ends early.
//
// Used by one thread. For libavformat, a failed read looks like the end of the
// file; read_error() and shrank() show the difference.
class MediaSource {
 public:
  // `size` is in bytes. Before each read, `may_read` is called; the read fails
  // if it returns false. Fails with kInternal when memory is short.
  static ipc::Expected<std::unique_ptr<MediaSource>> Create(
      MediaBytes bytes, int64_t size, std::function<bool()> may_read);

  MediaSource(const MediaSource&) = delete;
  MediaSource& operator=(const MediaSource&) = delete;
  ~MediaSource();

  // Hides the ranges until Unhide. They must not overlap.
  void Hide(std::vector<ByteRange> ranges);
  // Shows the whole file from the next read on. libavformat's read-ahead buffer
  // is dropped, so its bytes are read again.
  void Unhide();
  // Returns whether the last Hide hid any byte of `read`, also after Unhide.
  bool Hid(ByteRange read) const;
  // Repairs `out`, which libavformat has read at `offset`: replaces the bytes
  // that were hidden by the bytes of the file. Returns false if the file cannot
  // be read; read_error() or shrank() then says why.
  bool ReadHidden(int64_t offset, std::span<uint8_t> out);

  // Returns the context to give to libavformat. Owned by the source.
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
  std::vector<ByteRange> ranges_;  // of the last Hide
  bool hides_ = false;             // true from Hide to Unhide
  int64_t offset_ = 0;             // where libavformat reads next
  int read_error_ = 0;
  bool shrank_ = false;
  AVIOContext* context_ = nullptr;
};

}  // namespace bulkhead::worker::demux
