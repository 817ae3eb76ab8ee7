// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/media_file.h"

#include <errno.h>

#include <climits>
#include <utility>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include "backends/worker/media/media_source.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// A demuxer may answer EAGAIN. One that answers it for ever, which a hostile
// file can cause, is taken to be at the end.
constexpr int kMostRetries = 1 << 20;

}  // namespace

std::string AvErrorText(int av_error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(av_error, text, sizeof(text));
  return text;
}

ipc::Expected<std::unique_ptr<MediaFile>> MediaFile::Open(
    MediaBytes bytes, int64_t size, std::string_view name,
    uint32_t max_streams) {
  std::unique_ptr<MediaFile> file(new MediaFile(name, max_streams));
  IPC_ASSIGN_OR_RETURN(file->source_,
                       MediaSource::Create(bytes, size, [file = file.get()] {
                         return file->MayReadOn();
                       }));

  AVFormatContext*& format = file->format_;
  format = avformat_alloc_context();
  if (format == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a demuxer");
  }
  format->pb = file->source_->context();
  format->opaque = file.get();
  format->io_open = [](AVFormatContext* context, AVIOContext** io,
                       const char* url, int flags, AVDictionary** options) {
    return RefuseToOpen(context, io, url, flags, options);
  };
  format->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_NONBLOCK;
  format->protocol_whitelist = av_strdup("");
  // libavformat reports its own limit like a lack of memory. Ours is checked at
  // every read and after the header, and gets a message of its own.
  format->max_streams = INT_MAX;

  // The ffmpeg command sets this option too. It decides which programs of a
  // transport stream are found.
  AVDictionary* options = nullptr;
  av_dict_set(&options, "scan_all_pmts", "1", 0);
  int result = avformat_open_input(&format, file->name_.c_str(),
                                   /*fmt=*/nullptr, &options);
  av_dict_free(&options);
  if (result < 0) return tl::unexpected(file->OpenFailure(result));

  if (file->MayReadOn()) {
    result = avformat_find_stream_info(format, nullptr);
    if (result < 0 && format->nb_streams == 0) {
      return tl::unexpected(file->OpenFailure(result));
    }
  }
  IPC_TRY(file->CheckStreams());
  return file;
}

MediaFile::MediaFile(std::string_view name, uint32_t max_streams)
    : name_(name), max_streams_(max_streams) {}

MediaFile::~MediaFile() { avformat_close_input(&format_); }

bool MediaFile::MayReadOn() {
  if (format_ != nullptr && format_->nb_streams > max_streams_) {
    too_many_streams_ = true;
  }
  return !too_many_streams_;
}

ipc::Expected<void> MediaFile::CheckStreams() {
  if (MayReadOn()) return {};
  return ipc::Fail(ipc::Code::kResourceExhausted,
                   name_ + " has more than " + std::to_string(max_streams_) +
                       " streams; raise " + ipc::LimitName("streams"));
}

bool MediaFile::ReadPacket(AVPacket* packet) const {
  for (int retries = 0; retries < kMostRetries; ++retries) {
    av_packet_unref(packet);
    const int result = av_read_frame(format_, packet);
    if (result != AVERROR(EAGAIN)) return result >= 0;
  }
  return false;
}

int MediaFile::read_error() const { return source_->read_error(); }
bool MediaFile::cut_short() const { return source_->cut_short(); }

int MediaFile::RefuseToOpen(AVFormatContext* context, AVIOContext** io,
                            const char* /*url*/, int /*flags*/,
                            void* /*options*/) {
  *io = nullptr;
  ++static_cast<MediaFile*>(context->opaque)->refused_references_;
  return AVERROR(EACCES);
}

ipc::Error MediaFile::OpenFailure(int av_error) {
  if (auto few = CheckStreams(); !few) return std::move(few).error();
  if (source_->read_error() != 0) {
    return ipc::FailErrno(ipc::Code::kBadInput, name_ + " cannot be read",
                          source_->read_error())
        .value();
  }
  if (refers_to_others()) {
    return {ipc::Code::kUnsupported,
            name_ +
                " refers to other files, and a session opens no file but "
                "the one it was given: decode those files instead"};
  }
  return {av_error == AVERROR(ENOMEM) ? ipc::Code::kResourceExhausted
                                      : ipc::Code::kBadInput,
          name_ + " cannot be opened as media: " + AvErrorText(av_error)};
}

}  // namespace bulkhead::worker
