// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_reader.h"

#include <algorithm>
#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// The most pictures that a decoder may give for one packet on the average. A
// damaged packet, or one of VP9, can hold several.
constexpr uint64_t kMostPictures = 16;

}  // namespace

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
      on_replace_(std::move(on_replace)),
      gaps_(demuxer_->facts()) {}

ipc::Expected<void> PictureReader::ReplaceDecoder() {
  Forget();
  on_replace_();
  // Closed before the next one is opened: a device may have room for only one.
  decoder_.reset();
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  inspector_ = demuxer_->MakeInspector();
  outstanding_.Restart(INT64_MIN);
  gaps_ = PacketGaps(demuxer_->facts());
  equal_timestamps_.Restart();
  packets_ = 0;
  pictures_ = 0;
  shown_ = false;
  at_beginning_ = true;
  met_damage_ = false;
  sound_ = true;
  return {};
}

void PictureReader::Forget() {
  Pass();
  ahead_.reset();
  ahead_picture_.Reset();
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
  gaps_.Restart();
  equal_timestamps_.Restart();
  return {};
}

ipc::Expected<bool> PictureReader::Next() {
  if (has_picture_) return true;
  for (;;) {
    auto received =
        ahead_ ? *std::exchange(ahead_, std::nullopt) : Decode(&picture_);
    if (!received) return tl::unexpected(std::move(received).error());
    if (*received == Decoder::Received::kEndOfStream) {
      IPC_TRY(End());
      return false;
    }
    if (!ahead_picture_.empty()) picture_ = std::move(ahead_picture_);
    IPC_ASSIGN_OR_RETURN(const bool shows, Show());
    if (shows) return true;
    picture_.Reset();
  }
}

ipc::Expected<Decoder::Received> PictureReader::Decode(DecodedFrame* frame) {
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const auto received, decoder_->ReceiveFrame(frame));
    switch (received) {
      case Decoder::Received::kFrame:
      case Decoder::Received::kEndOfStream:
        return received;
      case Decoder::Received::kDamaged:
        met_damage_ = true;
        sound_ = false;
        continue;
      case Decoder::Received::kNeedsPacket:
        break;
    }
    if (!packet_pending_) IPC_TRY(ReadPacket());
    IPC_ASSIGN_OR_RETURN(
        const auto sent,
        decoder_->SendPacket(packets_ended_ ? nullptr : &demuxer_->packet()));
    packet_pending_ = sent == Decoder::Sent::kTakeFramesFirst;
    if (sent == Decoder::Sent::kDamaged) {
      met_damage_ = true;
      sound_ = false;
    }
  }
}

ipc::Expected<void> PictureReader::LookAhead() {
  ahead_ = Decode(&ahead_picture_);
  if (ahead_picture_.empty() || !sound_ ||
      !outstanding_.IsLost(ahead_picture_->pts)) {
    return {};
  }
  return tl::unexpected(OutOfOrder(ahead_picture_->pts));
}

ipc::Error PictureReader::OutOfOrder(int64_t pts) const {
  return BreachOf("receive_frame gave the picture with the timestamp " +
                      std::to_string(pts) + " after one with a later timestamp",
                  "the next frame in display order");
}

ipc::Expected<bool> PictureReader::Show() {
  shown_ = true;
  ++pictures_;
  const auto shown = outstanding_.Shown(picture_->pts);
  IPC_TRY(CheckOrigin(shown.origin));
  IPC_TRY(equal_timestamps_.Shown(picture_->pts));
  if (picture_->damaged != 0) {
    met_damage_ = true;
    sound_ = false;
  }
  if (sound_ && !met_damage_ && !shown.losses.empty()) IPC_TRY(LookAhead());
  Note(shown.losses);
  using Origin = OutstandingPackets::Origin;
  if (shown.origin == Origin::kDiscarded || shown.origin == Origin::kTooLate ||
      shown.origin == Origin::kLost) {
    return false;
  }
  NoteGaps(picture_->pts, picture_->duration);
  position_ = shown.position;
  has_picture_ = true;
  return true;
}

ipc::Expected<void> PictureReader::CheckOrigin(
    OutstandingPackets::Origin origin) {
  if (pictures_ > kMostPictures * (packets_ + 1)) {
    return tl::unexpected(
        BreachOf("receive_frame gave " + std::to_string(pictures_) +
                     " pictures for " + std::to_string(packets_) + " packets",
                 "A packet gives at most one frame"));
  }
  if (origin == OutstandingPackets::Origin::kLost && sound_) {
    return tl::unexpected(OutOfOrder(picture_->pts));
  }
  if (origin != OutstandingPackets::Origin::kNone || met_damage_ ||
      decoder_->damage_count() > 0) {
    return {};
  }
  const std::string time = picture_->pts == BULKHEAD_NO_TIMESTAMP
                               ? "no timestamp"
                               : "the timestamp " +
                                     std::to_string(picture_->pts) +
                                     ", which no packet has";
  return tl::unexpected(BreachOf("receive_frame gave a picture with " + time,
                                 "That of the frame's packet"));
}

ipc::Expected<void> PictureReader::End() {
  if (!met_damage_) IPC_TRY(equal_timestamps_.Ended());
  // Files of which no packet can be decoded are common, but a decoder reports
  // that, and the headers of a keyframe tell that it could.
  if (at_beginning_ && !shown_ && decoder_->damage_count() == 0 &&
      inspector_->met_keyframe()) {
    return tl::unexpected(
        BreachOf("receive_frame gave no frame, though send_packet took every "
                 "packet, also a keyframe with sound headers",
                 "receive_frame then returns the remaining frames"));
  }
  Note(outstanding_.Ended());
  NoteGapAtEnd();
  at_beginning_ = false;
  return {};
}

std::string PictureReader::Progress() const {
  std::string text = "after " + std::to_string(packets_) + " packets";
  if (packets_ == 0) return text;
  if (last_pts_ != BULKHEAD_NO_TIMESTAMP) {
    text += ", the last with timestamp " + std::to_string(last_pts_);
  }
  if (last_position_ >= 0) {
    text += ", byte " + std::to_string(last_position_) + " of the file";
  }
  return text;
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
  ++packets_;
  last_pts_ = packet.pts;
  last_position_ = packet.position;
  if (demuxer_->LostBefore()) {
    gaps_.SentBehindLoss(packet, demuxer_->lost_from(),
                         demuxer_->ListedAsLost());
  } else {
    gaps_.Sent(packet);
  }
  const bool shows = inspector_->Inspect(packet);
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  if ((packet.flags & BULKHEAD_PACKET_CORRUPT) != 0) sound_ = false;
  const bool discarded = (packet.flags & BULKHEAD_PACKET_DISCARD) != 0;
  if (!shows || discarded) {
    outstanding_.SentWithout(packet.pts, discarded);
    return {};
  }
  outstanding_.Sent(packet.pts, packet.duration, packet.position);
  equal_timestamps_.Sent(packet.pts);
  return {};
}

void PictureReader::Note(const std::vector<Loss>& losses) {
  if (losses.empty()) return;
  met_damage_ = true;
  for (const Loss& loss : losses) {
    if (loss.pts != BULKHEAD_NO_TIMESTAMP) NoteGaps(loss.pts, loss.duration);
    losses_.push_back(loss);
  }
}

void PictureReader::NoteGaps(int64_t pts, int64_t duration) {
  for (const PacketGap& gap : gaps_.Shown(pts, duration)) {
    met_damage_ = true;
    losses_.push_back({.pts = gap.pts,
                       .duration = gap.duration,
                       .position = gap.first_byte,
                       .packets = gap.packets,
                       .not_in_index = true,
                       .end_position = gap.end_byte});
  }
}

void PictureReader::NoteGapAtEnd() {
  // The host tells of a file that has become shorter.
  if (demuxer_->cut_short()) return;
  const int64_t size = demuxer_->size();
  const int64_t declared = demuxer_->declared_size();
  if (!demuxer_->LostAtEnd() && declared <= size) return;
  const auto gap = gaps_.LostAtEnd(std::max(size, declared));
  if (!gap) return;
  losses_.push_back({.pts = gap->pts,
                     .duration = gap->duration,
                     .position = std::min(gap->first_byte, size - 1),
                     .packets = gap->packets,
                     .not_in_index = true,
                     .end_position = size,
                     .declared_size = declared > size ? declared : -1});
}

}  // namespace bulkhead::worker
