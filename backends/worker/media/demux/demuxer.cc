// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/demuxer.h"

#include <algorithm>
#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "backends/libav_format/stream_to_abi.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/demux/display.h"
#include "backends/worker/media/demux/media_file.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker::demux {

ipc::Expected<std::unique_ptr<Demuxer>> Demuxer::Open(
    MediaBytes bytes, int64_t size, std::string_view name_hint,
    int32_t stream_index, StreamKind kind, DemuxerLimits limits) {
  std::unique_ptr<Demuxer> demuxer(
      new Demuxer(bytes, size, name_hint, stream_index, kind, limits));
  if (size <= 0) {
    return ipc::Fail(ipc::Code::kBadInput, demuxer->name_ + " is empty");
  }
  demuxer->av_packet_ = av_packet_alloc();
  if (demuxer->av_packet_ == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a packet");
  }
  IPC_TRY(demuxer->OpenInput());
  demuxer->facts_ = StreamFactsOf(*demuxer->format_, *demuxer->stream_);
  return demuxer;
}

Demuxer::Demuxer(MediaBytes bytes, int64_t size, std::string_view name_hint,
                 int32_t stream_index, StreamKind kind, DemuxerLimits limits)
    : bytes_(bytes),
      size_(size),
      name_(name_hint.substr(name_hint.rfind('/') + 1)),
      stream_index_(stream_index),
      kind_(kind),
      limits_(limits) {}

Demuxer::~Demuxer() {
  CloseInput();
  av_packet_free(&av_packet_);
}

void Demuxer::CloseInput() {
  if (av_packet_ != nullptr) av_packet_unref(av_packet_);
  stream_ = nullptr;
  format_ = nullptr;
  file_.reset();
  packet_is_pending_ = false;
  at_beginning_ = true;
  last_is_marked_ = false;
  last_dts_ = BULKHEAD_NO_TIMESTAMP;
  kept_ = {};
  packets_before_lending_.reset();
}

ipc::Expected<void> Demuxer::OpenInput() {
  IPC_ASSIGN_OR_RETURN(
      file_,
      MediaFile::Open(bytes_, size_, name_, limits_.streams, limits_.allowed));
  format_ = file_->format();

  IPC_ASSIGN_OR_RETURN(stream_index_,
                       ChooseStream(*file_, kind_, stream_index_));
  IPC_TRY(file_->CheckCodec(*format_->streams[stream_index_]));
  stream_ = format_->streams[stream_index_];
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    format_->streams[i]->discard = AVDISCARD_ALL;
  }
  stream_->discard = AVDISCARD_NONE;
  parameters_ = libav_format::ParametersOf(*stream_, &stream_side_data_);
  return {};
}

std::unique_ptr<damage::PacketInspector> Demuxer::MakeInspector() const {
  return damage::PacketInspector::Create(*stream_->codecpar);
}

AccessPoints Demuxer::MakeAccessPoints() const {
  return AccessPoints(*stream_->codecpar);
}

const int32_t* Demuxer::display_matrix_untrusted() const {
  return stream_ == nullptr ? nullptr : DisplayMatrixOf(*stream_);
}

bool Demuxer::NextAvPacket() {
  at_beginning_ = false;
  packet_too_large_ = false;
  if (borrows_ && kept_.TakeNext(av_packet_)) return true;
  while (file_->ReadPacket(av_packet_)) {
    if (av_packet_->stream_index != stream_index_) continue;
    packet_too_large_ = static_cast<uint64_t>(std::max(av_packet_->size, 0)) >
                        limits_.packet_bytes;
    if (packet_too_large_) break;
    // Skips the empty packets that some demuxers yield before the end. A
    // decoder would take an empty packet for the end of the stream.
    if (av_packet_->size > 0) {
      if (!borrows_) kept_.Keep(*av_packet_);
      return true;
    }
  }
  if (packet_too_large_) kept_.GiveUp();
  return false;
}

ipc::Expected<bool> Demuxer::ReadPacket() {
  if (packets_before_lending_) IPC_TRY(Return());
  if (stream_ == nullptr) {
    return ipc::Fail(ipc::Code::kBadInput, name_ + " could not be reopened");
  }
  if (packet_is_pending_) {
    packet_is_pending_ = false;
    at_beginning_ = false;
  } else if (!NextAvPacket()) {
    if (packet_too_large_) {
      return ipc::Fail(
          ipc::Code::kResourceExhausted,
          "a packet of " + name_ + " has " + std::to_string(av_packet_->size) +
              " bytes, more than " + std::to_string(limits_.packet_bytes) +
              "; raise " + ipc::LimitName("packet_bytes"));
    }
    IPC_TRY(file_->CheckStreams());
    if (file_->read_error() == 0) return false;
    return ipc::FailErrno(ipc::Code::kBadInput,
                          name_ + " cannot be read further",
                          file_->read_error());
  }
  packet_ = libav_format::PacketOf(*av_packet_, &packet_side_data_);
  last_is_marked_ = (av_packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
  last_dts_ = std::max(last_dts_, av_packet_->dts);
  return true;
}

const bulkhead_packet* Demuxer::PeekFirst() {
  if (!packet_is_pending_ && !NextAvPacket()) {
    // ReadPacket then tries to read the first packet again, and says why not.
    (void)SeekToBeginning();
    return nullptr;
  }
  packet_is_pending_ = true;
  at_beginning_ = true;
  packet_ = libav_format::PacketOf(*av_packet_, &packet_side_data_);
  return &packet_;
}

MissingEnd Demuxer::missing_end() const {
  if (stream_ == nullptr) return {};
  return FindMissingEnd(*file_, *stream_, bytes_, size_,
                        {.latest_dts = last_dts_,
                         .duration = packet_.duration,
                         .is_marked = last_is_marked_});
}

bool Demuxer::shrank() const { return file_ && file_->shrank(); }

bool Demuxer::disposable() const {
  return (av_packet_->flags & AV_PKT_FLAG_DISPOSABLE) != 0;
}

}  // namespace bulkhead::worker::demux
