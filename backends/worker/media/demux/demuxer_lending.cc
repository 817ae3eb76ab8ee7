// SPDX-License-Identifier: Apache-2.0
#include <utility>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
}

#include "backends/libav_format/stream_to_abi.h"
#include "backends/worker/media/demux/container_names.h"
#include "backends/worker/media/demux/demuxer.h"
#include "backends/worker/media/demux/media_file.h"
#include "ipc/try.h"

namespace bulkhead::worker::demux {

std::unique_ptr<Demuxer> Demuxer::Lend() {
  // Other containers than MP4 add to their index while they are read. A file
  // with a read error, or that shrank, must be opened again.
  if (facts_.container != kMp4 || stream_ == nullptr || packet_is_pending_ ||
      packets_before_lending_ || !kept_.has_all() || file_->read_error() != 0 ||
      file_->shrank()) {
    return nullptr;
  }
  std::unique_ptr<Demuxer> borrower(
      new Demuxer(bytes_, size_, name_, stream_index_, kind_, limits_));
  borrower->av_packet_ = av_packet_alloc();
  if (borrower->av_packet_ == nullptr) return nullptr;
  borrower->facts_ = facts_;
  borrower->borrows_ = true;
  packets_before_lending_ = kept_.count();
  entries_before_lending_ = avformat_index_get_entries_count(stream_);
  borrower->kept_ = std::exchange(kept_, {});
  borrower->file_ = std::move(file_);
  borrower->format_ = std::exchange(format_, nullptr);
  borrower->stream_ = std::exchange(stream_, nullptr);
  return borrower;
}

void Demuxer::TakeBack(std::unique_ptr<Demuxer> borrower) {
  // After a failed read the file is not taken back, so that this demuxer opens
  // it again and meets the failure at the same packet.
  if (borrower->file_->read_error() != 0 || borrower->shrank()) return;
  // If fragments that were read have made the index grow, a seek could arrive
  // at another packet.
  if (avformat_index_get_entries_count(borrower->stream_) !=
      entries_before_lending_) {
    return;
  }
  file_ = std::move(borrower->file_);
  format_ = std::exchange(borrower->format_, nullptr);
  stream_ = std::exchange(borrower->stream_, nullptr);
  // Reading may have replaced the memory that the parameters point to.
  parameters_ = libav_format::ParametersOf(*stream_, &stream_side_data_);
}

ipc::Expected<void> Demuxer::Return() {
  const uint64_t packets = *packets_before_lending_;
  const bool is_marked = last_is_marked_;
  const int64_t dts = last_dts_;
  CloseInput();
  IPC_TRY(OpenInput());
  for (uint64_t i = 0; i < packets && NextAvPacket(); ++i) {
  }
  last_is_marked_ = is_marked;
  last_dts_ = dts;
  return {};
}

}  // namespace bulkhead::worker::demux
