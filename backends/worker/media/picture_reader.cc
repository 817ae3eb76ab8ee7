// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_reader.h"

#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker {

ipc::Expected<std::unique_ptr<PictureReader>> PictureReader::Open(
    std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder,
    std::function<void()> on_replace) {
  std::unique_ptr<PictureReader> reader(new PictureReader(
      std::move(demuxer), std::move(open_decoder), std::move(on_replace)));
  IPC_TRY(reader->ReplaceDecoder());
  return reader;
}

PictureReader::PictureReader(std::unique_ptr<Demuxer> demuxer,
                             OpenDecoder open_decoder,
                             std::function<void()> on_replace)
    : demuxer_(std::move(demuxer)),
      open_decoder_(std::move(open_decoder)),
      on_replace_(std::move(on_replace)) {}

ipc::Expected<void> PictureReader::ReplaceDecoder() {
  Forget();
  on_replace_();
  // Closed before the next one is opened: a device may have room for only one.
  decoder_.reset();
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  inspector_ = demuxer_->MakeInspector();
  outstanding_.Restart(INT64_MIN);
  at_beginning_ = true;
  met_damage_ = false;
  return {};
}

void PictureReader::Forget() {
  Pass();
  packets_ended_ = false;
  packet_pending_ = false;
  losses_.clear();
}

ipc::Expected<void> PictureReader::SeekToBeginning() {
  if (at_beginning_) return {};
  IPC_TRY(demuxer_->SeekToBeginning());
  // A flush is not enough: decoders keep state across a flush, and it would
  // show in the pictures.
  return ReplaceDecoder();
}

ipc::Expected<void> PictureReader::SeekToKeyframe(int64_t timestamp) {
  at_beginning_ = false;
  // A failed seek may leave the demuxer anywhere, so only the beginning is
  // safe.
  if (!demuxer_->SeekToKeyframe(timestamp) || demuxer_->at_beginning()) {
    return SeekToBeginning();
  }
  if (met_damage_) {
    // Headers that the decoder took from damaged packets outlive a flush.
    IPC_TRY(ReplaceDecoder());
    at_beginning_ = false;
  } else {
    Forget();
    decoder_->Flush();
  }
  inspector_->Restart();
  outstanding_.Restart(demuxer_->entry());
  return {};
}

ipc::Expected<bool> PictureReader::Next() {
  if (has_picture_) return true;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const auto received,
                         decoder_->ReceiveFrame(&picture_));
    switch (received) {
      case Decoder::Received::kFrame:
        has_picture_ = true;
        Note(outstanding_.Shown(picture_->pts, &position_));
        if (picture_->damaged != 0) met_damage_ = true;
        return true;
      case Decoder::Received::kEndOfStream:
        Note(outstanding_.Ended());
        at_beginning_ = false;
        return false;
      case Decoder::Received::kDamaged:
        met_damage_ = true;
        continue;
      case Decoder::Received::kNeedsPacket:
        break;
    }
    if (!packet_pending_ && !packets_ended_) {
      IPC_TRY(ReadPacket());
    }
    // The decoder asks for packets after the end was sent: a vendor's mistake,
    // treated as the end of the stream.
    if (!packet_pending_) return false;
    IPC_ASSIGN_OR_RETURN(
        const auto sent,
        decoder_->SendPacket(packets_ended_ ? nullptr : &demuxer_->packet()));
    packet_pending_ = sent == Decoder::Sent::kTakeFramesFirst;
    if (sent == Decoder::Sent::kDamaged) met_damage_ = true;
  }
}

void PictureReader::Pass() {
  if (has_picture_) at_beginning_ = false;
  has_picture_ = false;
  picture_.Reset();
}

std::vector<Loss> PictureReader::TakeLosses() {
  if (!losses_.empty()) at_beginning_ = false;
  return std::exchange(losses_, {});
}

ipc::Expected<void> PictureReader::ReadPacket() {
  IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
  packets_ended_ = !read;
  packet_pending_ = true;
  if (packets_ended_) return {};
  const bulkhead_packet& packet = demuxer_->packet();
  const bool shows = inspector_->Inspect(packet);
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  if (shows && (packet.flags & BULKHEAD_PACKET_DISCARD) == 0) {
    outstanding_.Sent(packet.pts, packet.duration, packet.position);
  }
  return {};
}

void PictureReader::Note(const std::vector<Loss>& losses) {
  if (losses.empty()) return;
  met_damage_ = true;
  losses_.insert(losses_.end(), losses.begin(), losses.end());
}

}  // namespace bulkhead::worker
