// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/picture_reader.h"

#include <algorithm>
#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker::decode {

ipc::Expected<std::unique_ptr<PictureReader>> PictureReader::Open(
    std::unique_ptr<demux::Demuxer> demuxer, OpenDecoder open_decoder,
    std::function<void()> on_replace) {
  std::unique_ptr<PictureReader> reader(new PictureReader(
      std::move(demuxer), std::move(open_decoder), std::move(on_replace)));
  IPC_TRY(reader->ReplaceDecoder());
  return reader;
}

PictureReader::PictureReader(std::unique_ptr<demux::Demuxer> demuxer,
                             OpenDecoder open_decoder,
                             std::function<void()> on_replace)
    : demuxer_(std::move(demuxer)),
      open_decoder_(std::move(open_decoder)),
      on_replace_(std::move(on_replace)),
      points_(demuxer_->MakeAccessPoints()),
      trail_(*demuxer_) {}

ipc::Expected<void> PictureReader::ReplaceDecoder() {
  Forget();
  on_replace_();
  // Closed before the next one is opened: a device may have room for only one.
  decoder_.reset();
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  points_ = demuxer_->MakeAccessPoints();
  knows_points_ = true;
  pictures_.Restart(demuxer_->MakeInspector());
  at_beginning_ = true;
  return {};
}

void PictureReader::Forget() {
  Pass();
  pictures_.Forget();
  trail_.Restart();
  marks_.clear();
  packets_ended_ = false;
  packet_pending_ = false;
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
  return Enter(demuxer_->SeekToKeyframe(timestamp), /*at_point=*/false);
}

ipc::Expected<void> PictureReader::SeekToPacket(const demux::PacketMark& mark) {
  at_beginning_ = false;
  return Enter(demuxer_->SeekToPacket(mark), /*at_point=*/true);
}

ipc::Expected<void> PictureReader::Enter(const ipc::Expected<void>& sought,
                                         bool at_point) {
  // A failed seek may leave the demuxer anywhere, so only the beginning is
  // safe.
  if (!sought || demuxer_->at_beginning()) return SeekToBeginning();
  if (!pictures_.sound() || !points_.FlushSufficesFor(demuxer_->packet())) {
    // Headers and coefficients (H.264) that the decoder took from damaged
    // packets outlive a flush, even if the pictures of the packets never came
    // out.
    IPC_TRY(ReplaceDecoder());
    at_beginning_ = false;
  } else {
    Forget();
    decoder_->Flush();
  }
  points_.Restart();
  knows_points_ = at_point;
  pictures_.RestartAt(demuxer_->entry());
  return {};
}

std::unique_ptr<demux::Demuxer> PictureReader::Lend() {
  // A pending packet must be sent again, so the demuxer must keep it.
  return packet_pending_ ? nullptr : demuxer_->Lend();
}

ipc::Expected<bool> PictureReader::Next() {
  if (picture_) return true;
  for (;;) {
    picture_ = pictures_.Release();
    if (picture_) return true;
    if (pictures_.ended()) break;
    DecodedFrame frame;
    IPC_ASSIGN_OR_RETURN(const auto received, decoder_->ReceiveFrame(&frame));
    switch (received) {
      case Decoder::Received::kFrame:
        IPC_TRY(pictures_.Take(std::move(frame)));
        continue;
      case Decoder::Received::kEndOfStream:
        IPC_TRY(pictures_.End(at_beginning_));
        pictures_.Add(trail_.AtEnd());
        continue;
      case Decoder::Received::kDamaged:
        pictures_.Rejected();
        continue;
      case Decoder::Received::kNeedsPacket:
        break;
    }
    if (!packet_pending_) IPC_TRY(ReadPacket());
    IPC_ASSIGN_OR_RETURN(
        const auto sent,
        decoder_->SendPacket(packets_ended_ ? nullptr : &demuxer_->packet()));
    packet_pending_ = sent == Decoder::Sent::kTakeFramesFirst;
    if (sent == Decoder::Sent::kDamaged) pictures_.Rejected();
  }
  at_beginning_ = false;
  return false;
}

uint32_t PictureReader::access_check() const {
  const auto mark = std::find_if(marks_.begin(), marks_.end(),
                                 [this](const demux::PacketMark& other) {
                                   return other.timestamp == picture()->pts &&
                                          other.position == position();
                                 });
  return mark == marks_.end() ? 0 : mark->check;
}

std::string PictureReader::Progress() const {
  const std::string text =
      "after " + std::to_string(pictures_.packets()) + " packets";
  return begun() ? text + trail_.PlaceOfLast() : text;
}

void PictureReader::Pass() {
  if (picture_) at_beginning_ = false;
  picture_.reset();
}

std::vector<ipc::Loss> PictureReader::TakeLosses() {
  std::vector<ipc::Loss> losses = pictures_.TakeLosses();
  if (!losses.empty()) at_beginning_ = false;
  return losses;
}

ipc::Expected<void> PictureReader::ReadPacket() {
  IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
  packets_ended_ = !read;
  packet_pending_ = true;
  if (packets_ended_) return {};
  const bulkhead_packet& packet = demuxer_->packet();
  const damage::PacketRole& role =
      pictures_.Sent(packet, demuxer_->disposable());
  pictures_.Add(trail_.Read(packet, role));
  if (points_.Read(packet, role) && knows_points_) {
    marks_.push_back(demux::MarkOf(packet));
    if (marks_.size() > HeldPictures::kMost) marks_.pop_front();
  }
  return {};
}

}  // namespace bulkhead::worker::decode
