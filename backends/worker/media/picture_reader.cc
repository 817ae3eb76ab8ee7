// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_reader.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// The most pictures that a decoder may give for one packet on the average. A
// damaged packet, or one of VP9, can hold several.
constexpr uint64_t kMostPictures = 16;

// No decoder delays a picture by more than its picture buffer, which has room
// for 16. A packet that is waited for longer has a damaged timestamp.
constexpr size_t kMostHeld = 32;

// The bytes that are compared with zero around a hole in the file.
constexpr size_t kZeroes = 8;

bool AreZero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](uint8_t byte) { return byte == 0; });
}

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
  chain_.Restart();
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
  held_.clear();
  awaits_next_ = false;
  drained_ = false;
  read_ahead_ = {};
  packets_ended_ = false;
  packet_pending_ = false;
  losses_.clear();
  later_losses_.clear();
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
  if (met_damage_ || !sound_) {
    // What the decoder took from damaged packets outlives a flush: headers, and
    // coefficients of H.264. Their pictures need not have come out.
    IPC_TRY(ReplaceDecoder());
    at_beginning_ = false;
  } else {
    Forget();
    decoder_->Flush();
  }
  inspector_->Restart();
  outstanding_.Restart(demuxer_->entry());
  gaps_.Restart();
  chain_.Restart();
  equal_timestamps_.Restart();
  return {};
}

std::unique_ptr<Demuxer> PictureReader::Lend() {
  // The decoder is to get that packet once more.
  return packet_pending_ ? nullptr : demuxer_->Lend();
}

ipc::Expected<bool> PictureReader::Next() {
  if (has_picture_) return true;
  for (;;) {
    if (!held_.empty() && NeedsLookAhead()) {
      // A failure comes behind the pictures that are there already.
      read_ahead_ = ReadPacket();
    }
    if (Release()) return true;
    if (drained_) break;
    IPC_TRY(std::exchange(read_ahead_, {}));
    DecodedFrame frame;
    IPC_ASSIGN_OR_RETURN(const auto received, decoder_->ReceiveFrame(&frame));
    switch (received) {
      case Decoder::Received::kFrame:
        IPC_TRY(Take(std::move(frame)));
        continue;
      case Decoder::Received::kEndOfStream:
        IPC_TRY(End());
        continue;
      case Decoder::Received::kDamaged:
        Rejected();
        continue;
      case Decoder::Received::kNeedsPacket:
        break;
    }
    if (!packet_pending_) IPC_TRY(ReadPacket());
    IPC_ASSIGN_OR_RETURN(
        const auto sent,
        decoder_->SendPacket(packets_ended_ ? nullptr : &demuxer_->packet()));
    packet_pending_ = sent == Decoder::Sent::kTakeFramesFirst;
    if (sent == Decoder::Sent::kDamaged) Rejected();
  }
  at_beginning_ = false;
  losses_.insert(losses_.end(), later_losses_.begin(), later_losses_.end());
  later_losses_.clear();
  return false;
}

bool PictureReader::NeedsLookAhead() const {
  return demuxer_->tells_losses() && !packet_pending_ && !packets_ended_ &&
         read_ahead_ && chain_.IsLatest(held_.front().frame->pts);
}

void PictureReader::Rejected() {
  met_damage_ = true;
  sound_ = false;
  // Nothing refers to what cannot be decoded because of where the stream
  // begins.
  if (!inspector_->left_out()) chain_.Rejected();
}

bool PictureReader::Release() {
  if (held_.empty() || awaits_next_) return false;
  Held& next = held_.front();
  if (!drained_ && held_.size() < kMostHeld &&
      !chain_.Settled(next.frame->pts)) {
    return false;
  }
  picture_ = std::move(next.frame);
  position_ = next.position;
  losses_.insert(losses_.end(), next.losses.begin(), next.losses.end());
  held_.pop_front();
  damaged_ = picture_->damaged != 0 || chain_.Broken(picture_->pts);
  has_picture_ = true;
  return true;
}

ipc::Expected<void> PictureReader::Take(DecodedFrame frame) {
  shown_ = true;
  ++pictures_;
  const auto shown = outstanding_.Shown(frame->pts);
  IPC_TRY(CheckOrigin(shown.origin, frame->pts));
  IPC_TRY(equal_timestamps_.Shown(frame->pts));
  const bool damaged = frame->damaged != 0;
  if (damaged || frame->met_error != 0) sound_ = false;
  awaits_next_ = sound_ && !met_damage_ && !shown.losses.empty();
  Note(shown.losses);
  if (!outstanding_.timed()) chain_.OnlyCount();
  if (frame->met_error != 0) chain_.Doubt();
  chain_.Shown(frame->pts, frame->keyframe != 0, damaged);
  met_damage_ = met_damage_ || damaged;
  using Origin = OutstandingPackets::Origin;
  if (shown.origin == Origin::kDiscarded || shown.origin == Origin::kTooLate ||
      shown.origin == Origin::kLost) {
    return {};
  }
  NoteGaps(frame->pts, frame->duration);
  held_.push_back(
      {std::move(frame), shown.position, std::exchange(later_losses_, {})});
  return {};
}

ipc::Expected<void> PictureReader::CheckOrigin(
    OutstandingPackets::Origin origin, int64_t pts) {
  if (pictures_ > kMostPictures * (packets_ + 1)) {
    return tl::unexpected(
        BreachOf("receive_frame gave " + std::to_string(pictures_) +
                     " pictures for " + std::to_string(packets_) + " packets",
                 "send-2", "A packet gives at most one frame"));
  }
  if (origin == OutstandingPackets::Origin::kLost && sound_) {
    return tl::unexpected(
        BreachOf("receive_frame gave the picture with the timestamp " +
                     std::to_string(pts) + " after one with a later timestamp",
                 "receive-1", "the next frame in display order"));
  }
  if (origin != OutstandingPackets::Origin::kNone || met_damage_ ||
      decoder_->damage_count() > 0) {
    return {};
  }
  const std::string time =
      pts == BULKHEAD_NO_TIMESTAMP
          ? "no timestamp"
          : "the timestamp " + std::to_string(pts) + ", which no packet has";
  return tl::unexpected(BreachOf("receive_frame gave a picture with " + time,
                                 "frame-6", "that of the frame's packet"));
}

ipc::Expected<void> PictureReader::End() {
  if (!met_damage_) IPC_TRY(equal_timestamps_.Ended());
  // Files of which no packet can be decoded are common, but a decoder reports
  // that, and the headers of a keyframe tell that it could.
  if (at_beginning_ && !shown_ && decoder_->damage_count() == 0 &&
      inspector_->met_keyframe()) {
    return tl::unexpected(BreachOf(
        "receive_frame gave no frame, though send_packet took every "
        "packet, also a keyframe with sound headers",
        "send-3", "each packet that shows a picture has given its frame"));
  }
  Note(outstanding_.Ended());
  NoteGapAtEnd();
  awaits_next_ = false;
  drained_ = true;
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
  if (packets_ended_) {
    lost_at_end_ = demuxer_->LostAtEnd();
    if (IsTornAtEnd()) chain_.Cut();
    return {};
  }
  const bulkhead_packet& packet = demuxer_->packet();
  ++packets_;
  last_pts_ = packet.pts;
  last_position_ = packet.position;
  const bool in_damaged_unit = IsInDamagedUnit();
  if (packets_ == 1 && at_beginning_ && demuxer_->DoubtsStart()) {
    inspector_->start().LostBefore();
  }
  if (demuxer_->LostBefore()) {
    inspector_->start().LostBefore();
    gaps_.SentBehindLoss(packet, demuxer_->lost_from(),
                         demuxer_->ListedAsLost());
    met_damage_ = true;
    sound_ = false;
    chain_.LostBefore(IsTorn());
  } else {
    gaps_.Sent(packet);
    if (in_damaged_unit) chain_.LostBefore(true);
  }
  const bool shows = inspector_->Inspect(packet);
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  for (const auto& late : inspector_->late()) {
    outstanding_.Sent(late.pts, late.duration, late.position);
    equal_timestamps_.Sent(late.pts, 0);
  }
  last_is_corrupt_ = (packet.flags & BULKHEAD_PACKET_CORRUPT) != 0;
  if (last_is_corrupt_ || inspector_->role().overwritten) sound_ = false;
  const bool discarded =
      (packet.flags & BULKHEAD_PACKET_DISCARD) != 0 || inspector_->left_out();
  const size_t tail = std::min(packet.bytes, kZeroes);
  ends_in_zeroes_ = AreZero({packet.data + packet.bytes - tail, tail});
  PacketRole role = inspector_->role();
  role.disposable = demuxer_->disposable();
  // What is left out may have the time of another packet.
  chain_.Sent(role, inspector_->left_out() ? BULKHEAD_NO_TIMESTAMP : packet.pts,
              shows && !discarded);
  // Of a transport stream, IsTorn() knows more.
  const bool corrupt = last_is_corrupt_ && !demuxer_->tells_losses();
  if (corrupt || in_damaged_unit || role.overwritten) chain_.Cut();
  if (!shows || discarded) {
    outstanding_.SentWithout(packet.pts, discarded);
    return {};
  }
  outstanding_.Sent(packet.pts, packet.duration, packet.position);
  equal_timestamps_.Sent(packet.pts, packet.bytes);
  return {};
}

bool PictureReader::IsTornAtEnd() const {
  const bool cut_off = demuxer_->declared_size() > demuxer_->size();
  if (demuxer_->facts().container == "mpegts") {
    // The rest of the last packet may be what is cut off.
    return lost_at_end_ ? IsTorn()
                        : cut_off && !inspector_->notices_missing_end();
  }
  if (demuxer_->facts().container == "dv") {
    return lost_at_end_ && demuxer_->loss_may_tear();
  }
  // Where a file is cut off, a packet that its container has in full is whole.
  if (!lost_at_end_) return false;
  return cut_off && !demuxer_->breaks_inside() ? last_is_corrupt_ : IsTorn();
}

bool PictureReader::IsInDamagedUnit() const {
  return last_is_corrupt_ && demuxer_->tells_losses() &&
         demuxer_->packet().position < 0;
}

bool PictureReader::IsTorn() const {
  if (demuxer_->facts().container == "mpegts") {
    // Nothing tells where the packets end. Some decoders notice it if the end
    // of one is missing, but not if it goes on with the middle of another.
    return demuxer_->lost_from() != demuxer_->packet().position ||
           !inspector_->notices_missing_end();
  }
  if (!demuxer_->loss_may_tear()) return false;
  // The packet before is whole if exactly what follows it was overwritten.
  std::array<uint8_t, kZeroes> hole;
  return ends_in_zeroes_ || demuxer_->lost_from() < 0 ||
         demuxer_->bytes().ReadAt(demuxer_->lost_from(), hole) !=
             ssize_t{kZeroes} ||
         !AreZero(hole);
}

void PictureReader::Note(const std::vector<Loss>& losses) {
  if (losses.empty()) return;
  met_damage_ = true;
  for (const Loss& loss : losses) {
    chain_.Lost(loss.pts);
    if (loss.pts != BULKHEAD_NO_TIMESTAMP) NoteGaps(loss.pts, loss.duration);
    later_losses_.push_back(loss);
  }
}

void PictureReader::NoteGaps(int64_t pts, int64_t duration) {
  for (const PacketGap& gap : gaps_.Shown(pts, duration)) {
    met_damage_ = true;
    // Only the size of the file tells where no byte is damaged.
    const int64_t declared =
        gap.first_byte == gap.end_byte ? demuxer_->declared_size() : 0;
    later_losses_.push_back(
        {.pts = gap.pts,
         .duration = gap.duration,
         .position = gap.first_byte,
         .packets = gap.packets,
         .not_in_index = true,
         .end_position = gap.end_byte,
         .declared_size = declared > demuxer_->size() ? declared : -1});
  }
}

void PictureReader::NoteGapAtEnd() {
  // The host tells of a file that has become shorter.
  if (demuxer_->cut_short()) return;
  const int64_t size = demuxer_->size();
  const int64_t declared = demuxer_->declared_size();
  if (!lost_at_end_ && declared <= size) {
    const auto gap = gaps_.UncountedAtEnd(size, demuxer_->declared_frames());
    if (!gap) return;
    later_losses_.push_back({.pts = gap->pts,
                             .duration = gap->duration,
                             .position = std::min(gap->first_byte, size - 1),
                             .packets = gap->packets,
                             .not_in_index = true,
                             .end_position = size,
                             .declared_frames = gap->declared});
    return;
  }
  // What stands behind the end that the headers tell belongs to no stream.
  const std::string& container = demuxer_->facts().container;
  if ((container == "matroska,webm" || container == "avi") && declared > 0 &&
      declared <= size && demuxer_->lost_from() >= declared) {
    return;
  }
  // Bytes of another stream are cut off, or were cut out of any packet.
  const uint64_t listed =
      demuxer_->IsWholeAtEnd() ? 1 : demuxer_->LostPacketsAtEnd();
  const auto gap = gaps_.LostAtEnd(std::max(size, declared), listed);
  if (!gap && (container == "flv" || container == "rm") && declared > size &&
      !met_damage_ && demuxer_->facts().stream_count == 1) {
    // Nothing tells where they are missing.
    later_losses_.push_back({.pts = BULKHEAD_NO_TIMESTAMP,
                             .duration = 0,
                             .position = -1,
                             .packets = 1,
                             .not_in_index = true,
                             .declared_size = declared});
  }
  if (!gap) return;
  later_losses_.push_back({.pts = gap->pts,
                           .duration = gap->duration,
                           .position = std::min(gap->first_byte, size - 1),
                           .packets = gap->packets,
                           .not_in_index = true,
                           .end_position = size,
                           .declared_size = declared > size ? declared : -1});
}

}  // namespace bulkhead::worker
