// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/media_source.h"

#include <errno.h>
#include <stdio.h>

#include <algorithm>

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

namespace bulkhead::worker {
namespace {

// The size that libavformat's own file protocol uses. The size of reads decides
// which packets some probes see, so another one could change the result.
constexpr int kBufferBytes = 32768;

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

int MediaSource::Read(void* self, uint8_t* buffer, int bytes) {
  auto* source = static_cast<MediaSource*>(self);
  if (!source->may_read_()) return AVERROR_EXIT;
  const int64_t left = source->size_ - source->offset_;
  if (left <= 0 || bytes <= 0) return AVERROR_EOF;
  const size_t wanted = static_cast<size_t>(std::min<int64_t>(left, bytes));
  const ssize_t got = source->bytes_.ReadAt(source->offset_, {buffer, wanted});
  if (got < 0) {
    if (source->read_error_ == 0) source->read_error_ = static_cast<int>(-got);
    return AVERROR(source->read_error_);
  }
  if (got == 0) {
    source->cut_short_ = true;
    return AVERROR_EOF;
  }
  source->offset_ += got;
  return static_cast<int>(got);
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

}  // namespace bulkhead::worker
