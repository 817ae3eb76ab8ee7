// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/media_source.h"

#include <errno.h>
#include <stdio.h>

#include <algorithm>

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

namespace bulkhead::worker::demux {
namespace {

// The buffer size of libavformat's own file protocol. Another size could change
// the result, since the size of reads decides which packets some probes see.
constexpr int kBufferBytes = 32768;

// Returns the bytes that are in both ranges. If there are none, `end` is not
// above `begin`.
ByteRange Intersection(ByteRange a, ByteRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

ipc::Expected<std::unique_ptr<MediaSource>> MediaSource::Create(
    MediaBytes bytes, int64_t size, std::function<bool()> may_read) {
  std::unique_ptr<MediaSource> source(
      new MediaSource(bytes, size, std::move(may_read)));
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a read buffer");
  }
  source->context_ = avio_alloc_context(
      buffer, kBufferBytes, /*write_flag=*/0, source.get(), &MediaSource::Read,
      /*write_packet=*/nullptr, &MediaSource::Seek);
  if (source->context_ == nullptr) {
    av_free(buffer);
    return ipc::Fail(ipc::Code::kInternal, "no memory for a read context");
  }
  return source;
}

MediaSource::~MediaSource() {
  if (context_ != nullptr) av_freep(&context_->buffer);
  avio_context_free(&context_);
}

int MediaSource::ReadBytes(int64_t offset, std::span<uint8_t> out) {
  const ssize_t got = bytes_.ReadAt(offset, out);
  if (got < 0) {
    if (read_error_ == 0) read_error_ = static_cast<int>(-got);
    return AVERROR(read_error_);
  }
  if (got == 0) shrank_ = true;
  return static_cast<int>(got);
}

int MediaSource::Read(void* self, uint8_t* buffer, int bytes) {
  auto* source = static_cast<MediaSource*>(self);
  if (!source->may_read_()) return AVERROR_EXIT;
  const int64_t left = source->size_ - source->offset_;
  if (left <= 0 || bytes <= 0) return AVERROR_EOF;
  const size_t wanted = static_cast<size_t>(std::min<int64_t>(left, bytes));
  const int got = source->ReadBytes(source->offset_, {buffer, wanted});
  if (got <= 0) return got < 0 ? got : AVERROR_EOF;
  if (source->hides_) {
    // Overwrites the bytes of hidden ranges.
    const ByteRange read{source->offset_, source->offset_ + got};
    for (const ByteRange& range : source->ranges_) {
      const ByteRange both = Intersection(range, read);
      if (both.begin >= both.end) continue;
      std::fill(buffer + (both.begin - read.begin),
                buffer + (both.end - read.begin), uint8_t{0xff});
    }
  }
  source->offset_ += got;
  return got;
}

void MediaSource::Hide(std::vector<ByteRange> ranges) {
  ranges_ = std::move(ranges);
  hides_ = !ranges_.empty();
}

void MediaSource::Unhide() {
  if (!hides_) return;
  hides_ = false;
  const int64_t position = avio_tell(context_);
  if (position < 0) return;
  // Empties the buffer by hand, since a seek to a position in the buffer would
  // keep its bytes.
  context_->buf_ptr = context_->buffer;
  context_->buf_end = context_->buffer;
  context_->pos = position;
  offset_ = position;
}

bool MediaSource::Hid(ByteRange read) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [read](const ByteRange& range) {
                       const ByteRange both = Intersection(range, read);
                       return both.begin < both.end;
                     });
}

bool MediaSource::ReadHidden(int64_t offset, std::span<uint8_t> out) {
  const ByteRange read{offset, offset + static_cast<int64_t>(out.size())};
  for (const ByteRange& range : ranges_) {
    ByteRange both = Intersection(range, read);
    while (both.begin < both.end) {
      const int got = ReadBytes(
          both.begin, out.subspan(static_cast<size_t>(both.begin - offset),
                                  static_cast<size_t>(both.end - both.begin)));
      if (got <= 0) return false;
      both.begin += got;
    }
  }
  return true;
}

int64_t MediaSource::Seek(void* self, int64_t offset, int whence) {
  auto* source = static_cast<MediaSource*>(self);
  int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return source->size_;
    case SEEK_SET:
      break;
    case SEEK_CUR:
      base = source->offset_;
      break;
    case SEEK_END:
      base = source->size_;
      break;
    default:
      return AVERROR(EINVAL);
  }
  int64_t target;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) {
    return AVERROR(EINVAL);
  }
  source->offset_ = target;
  return target;
}

}  // namespace bulkhead::worker::demux
