// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/packet_source.h"

#include <algorithm>
#include <utility>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
}

#include "backends/worker/media/demux/container_names.h"
#include "backends/worker/media/demux/media_file.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker::demux {

ipc::Expected<std::unique_ptr<PacketSource>> PacketSource::Open(
    StreamPlace place) {
  if (place.size <= 0) {
    return ipc::Fail(ipc::Code::kBadInput, place.name + " is empty");
  }
  std::unique_ptr<PacketSource> source(new PacketSource(std::move(place)));
  if (source->packet_ == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a packet");
  }
  IPC_TRY(source->Reopen());
  source->facts_ = StreamFactsOf(*source->file_->format(), *source->stream_);
  return source;
}

PacketSource::PacketSource(StreamPlace place)
    : place_(std::move(place)), packet_(av_packet_alloc()) {}

PacketSource::~PacketSource() { av_packet_free(&packet_); }

ipc::Expected<void> PacketSource::Reopen() {
  av_packet_unref(packet_);
  stream_ = nullptr;
  file_.reset();
  kept_ = {};
  given_before_lending_.reset();
  IPC_ASSIGN_OR_RETURN(
      file_, MediaFile::Open(place_.bytes, place_.size, place_.name,
                             place_.limits.streams, place_.limits.allowed));
  IPC_ASSIGN_OR_RETURN(place_.stream_index,
                       ChooseStream(*file_, place_.kind, place_.stream_index));
  AVFormatContext& format = *file_->format();
  IPC_TRY(file_->CheckCodec(*format.streams[place_.stream_index]));
  stream_ = format.streams[place_.stream_index];
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    format.streams[i]->discard = AVDISCARD_ALL;
  }
  stream_->discard = AVDISCARD_NONE;
  return {};
}

ipc::Expected<bool> PacketSource::Read() {
  if (given_before_lending_) {
    const uint64_t given = *given_before_lending_;
    IPC_TRY(Reopen());
    for (uint64_t i = 0; i < given && Read().value_or(false); ++i) {
    }
  }
  if (stream_ == nullptr) {
    return ipc::Fail(ipc::Code::kBadInput,
                     place_.name + " could not be reopened");
  }
  if (borrows_ && kept_.TakeNext(packet_)) return true;
  while (file_->ReadPacket(packet_)) {
    if (packet_->stream_index != place_.stream_index) continue;
    if (static_cast<uint64_t>(std::max(packet_->size, 0)) >
        place_.limits.packet_bytes) {
      kept_.GiveUp();
      return ipc::Fail(ipc::Code::kResourceExhausted,
                       "a packet of " + place_.name + " has " +
                           std::to_string(packet_->size) +
                           " bytes, more than " +
                           std::to_string(place_.limits.packet_bytes) +
                           "; raise " + ipc::LimitName("packet_bytes"));
    }
    // Skips the empty packets that some demuxers yield before the end. A
    // decoder would take an empty packet for the end of the stream.
    if (packet_->size > 0) {
      if (!borrows_) kept_.Keep(*packet_);
      return true;
    }
  }
  IPC_TRY(file_->CheckStreams());
  if (file_->read_error() == 0) return false;
  return ipc::FailErrno(ipc::Code::kBadInput,
                        place_.name + " cannot be read further",
                        file_->read_error());
}

ipc::Expected<void> PacketSource::Seek(int64_t timestamp) {
  kept_.GiveUp();
  given_before_lending_.reset();
  const int result = av_seek_frame(file_->format(), place_.stream_index,
                                   timestamp, AVSEEK_FLAG_BACKWARD);
  if (result >= 0) return {};
  return ipc::Fail(ipc::Code::kOutOfRange,
                   place_.name + " cannot seek to timestamp " +
                       std::to_string(timestamp) + ": " + AvErrorText(result) +
                       "; read from the beginning");
}

bool PacketSource::shrank() const { return file_ && file_->shrank(); }

MissingEnd PacketSource::missing_end(const LastPacket& last) const {
  if (stream_ == nullptr) return {};
  return FindMissingEnd(*file_, *stream_, place_.bytes, place_.size, last);
}

std::unique_ptr<PacketSource> PacketSource::Lend() {
  // Other containers than MP4 add to their index while they are read. A file
  // with a read error, or that shrank, must be opened again.
  if (facts_.container != kMp4 || !in_place() || !kept_.has_all() ||
      file_->read_error() != 0 || file_->shrank()) {
    return nullptr;
  }
  std::unique_ptr<PacketSource> borrower(new PacketSource(place_));
  if (borrower->packet_ == nullptr) return nullptr;
  borrower->facts_ = facts_;
  borrower->borrows_ = true;
  given_before_lending_ = kept_.count();
  entries_before_lending_ = avformat_index_get_entries_count(stream_);
  borrower->kept_ = std::exchange(kept_, {});
  borrower->file_ = std::move(file_);
  borrower->stream_ = std::exchange(stream_, nullptr);
  return borrower;
}

void PacketSource::TakeBack(PacketSource& borrower) {
  // After a failed read the file is not taken back, so that this source opens
  // it again and meets the failure at the same packet.
  if (borrower.file_->read_error() != 0 || borrower.shrank()) return;
  // If fragments that were read have made the index grow, a seek could arrive
  // at another packet.
  if (avformat_index_get_entries_count(borrower.stream_) !=
      entries_before_lending_) {
    return;
  }
  file_ = std::move(borrower.file_);
  stream_ = std::exchange(borrower.stream_, nullptr);
}

}  // namespace bulkhead::worker::demux
