// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/picture_reader.h"

#include <algorithm>
#include <utility>

#include "backends/worker/media/damage/packet_role.h"
#include "ipc/try.h"

namespace bulkhead::worker::decode {
namespace {

// The most pictures that are held back, and the most by which decoding and
// display order may differ. A decoder's picture buffer has room for 16. If more
// pictures wait for a packet, the packet's timestamp is damaged.
constexpr size_t kMostHeld = 32;
constexpr int kMostReordered = 16;

}  // namespace

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
      gaps_(static_cast<size_t>(
          std::clamp(demuxer_->facts().video_delay, 0, kMostReordered))),
      trail_(*demuxer_) {}

ipc::Expected<void> PictureReader::ReplaceDecoder() {
  Forget();
  on_replace_();
  // Closed before the next one is opened: a device may have room for only one.
  decoder_.reset();
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  inspector_ = demuxer_->MakeInspector();
  points_ = demuxer_->MakeAccessPoints();
  knows_points_ = true;
  outstanding_.Restart(INT64_MIN);
  chain_.Restart();
  check_.Restart();
  gaps_.Restart();
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
  trail_.Restart();
  rejected_ = 0;
  held_pts_ = BULKHEAD_NO_TIMESTAMP;
  marks_.clear();
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
  if (met_damage_ || !sound_ || !points_.FlushSufficesFor(demuxer_->packet())) {
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
  inspector_->Restart();
  outstanding_.Restart(demuxer_->entry());
  chain_.Restart();
  check_.RestartTimestamps();
  gaps_.Restart();
  return {};
}

std::unique_ptr<demux::Demuxer> PictureReader::Lend() {
  // A pending packet must be sent again, so the demuxer must keep it.
  return packet_pending_ ? nullptr : demuxer_->Lend();
}

ipc::Expected<bool> PictureReader::Next() {
  if (has_picture_) return true;
  for (;;) {
    if (Release()) return true;
    if (drained_) break;
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

void PictureReader::Rejected() {
  met_damage_ = true;
  sound_ = false;
  ++rejected_;
  // A packet that cannot be decoded because the stream's beginning is missing
  // breaks nothing, since no later picture refers to it.
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
  const bool flagged = picture_->damaged != 0;
  damaged_ = flagged || chain_.Broken(picture_->pts);
  sign_ =
      flagged ? ipc::DamageSign::kFlagged : ipc::DamageSign::kRefersToDamaged;
  has_picture_ = true;
  return true;
}

ipc::Expected<void> PictureReader::Take(DecodedFrame frame) {
  const auto shown = outstanding_.Shown(frame->pts);
  IPC_TRY(check_.Shown(shown.origin, frame->pts, DamageSoFar()));
  const bool damaged = frame->damaged != 0;
  if (damaged || frame->met_error != 0) sound_ = false;
  // The picture that seems lost may come next. That is a breach, and no damage.
  awaits_next_ = sound_ && !met_damage_ && !shown.losses.empty();
  AddLosses(shown.losses);
  if (!outstanding_.timed()) chain_.OnlyCount();
  if (frame->met_error != 0) chain_.Doubt();
  chain_.Shown(frame->pts, frame->keyframe != 0, damaged);
  met_damage_ = met_damage_ || damaged;
  if (damaged && rejected_ > 0) --rejected_;
  using Origin = damage::OutstandingPackets::Origin;
  if (shown.origin == Origin::kDiscarded || shown.origin == Origin::kTooLate ||
      shown.origin == Origin::kLost) {
    return {};
  }
  held_.push_back(
      {std::move(frame), shown.position, std::exchange(later_losses_, {})});
  return {};
}

ipc::Expected<void> PictureReader::End() {
  IPC_TRY(
      check_.Ended(at_beginning_ && inspector_->met_keyframe(), DamageSoFar()));
  AddLosses(outstanding_.Ended());
  while (const auto after = gaps_.Ended()) {
    later_losses_.push_back(PacketTrail::NoteOfGap(*after));
  }
  if (const auto end = trail_.AtEnd()) later_losses_.push_back(*end);
  awaits_next_ = false;
  drained_ = true;
  return {};
}

uint32_t PictureReader::access_check() const {
  const auto mark = std::find_if(
      marks_.begin(), marks_.end(), [this](const demux::PacketMark& other) {
        return other.timestamp == picture_->pts && other.position == position_;
      });
  return mark == marks_.end() ? 0 : mark->check;
}

std::string PictureReader::Progress() const {
  const std::string text =
      "after " + std::to_string(check_.packets()) + " packets";
  return begun() ? text + trail_.PlaceOfLast() : text;
}

PassCheck::Damage PictureReader::DamageSoFar() const {
  return {.met = met_damage_,
          .only_lost = sound_,
          .complaints = decoder_->damage_count()};
}

void PictureReader::Pass() {
  if (has_picture_) at_beginning_ = false;
  has_picture_ = false;
  picture_.Reset();
}

std::vector<ipc::Loss> PictureReader::TakeLosses() {
  if (!losses_.empty()) at_beginning_ = false;
  return std::exchange(losses_, {});
}

ipc::Expected<void> PictureReader::ReadPacket() {
  IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
  packets_ended_ = !read;
  packet_pending_ = true;
  if (packets_ended_) return {};
  const bulkhead_packet& packet = demuxer_->packet();
  check_.Read();
  if (const auto note = trail_.Read(packet)) later_losses_.push_back(*note);
  const bool shows = inspector_->Inspect(packet);
  const bool is_point = points_.Read(packet, inspector_->role());
  if (is_point && knows_points_) {
    marks_.push_back(demux::MarkOf(packet));
    if (marks_.size() > kMostHeld) marks_.pop_front();
  }
  if (inspector_->role().has_picture && !inspector_->role().second_field) {
    const auto after = gaps_.Sent({packet.pts, packet.position});
    if (after) later_losses_.push_back(PacketTrail::NoteOfGap(*after));
  }
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  if (inspector_->drops_held()) outstanding_.Dropped(held_pts_);
  for (const auto& late : inspector_->late()) {
    outstanding_.Sent(late.pts, late.duration, late.position);
    // The size of a late packet is not known here; 0 changes no limit.
    check_.Sent(late.pts, 0);
  }
  if (trail_.last_is_marked()) sound_ = false;
  const bool discarded =
      (packet.flags & BULKHEAD_PACKET_DISCARD) != 0 || inspector_->left_out();
  damage::PacketRole role = inspector_->role();
  role.disposable = demuxer_->disposable();
  // A packet that is left out may have the timestamp of another packet.
  chain_.Sent(role, inspector_->left_out() ? BULKHEAD_NO_TIMESTAMP : packet.pts,
              shows && !discarded);
  if (!shows || discarded) {
    outstanding_.SentWithout(packet.pts, discarded);
    return {};
  }
  if (!role.b_picture) held_pts_ = packet.pts;
  outstanding_.Sent(packet.pts, packet.duration, packet.position);
  check_.Sent(packet.pts, packet.bytes);
  return {};
}

void PictureReader::AddLosses(std::vector<ipc::Loss> losses) {
  if (losses.empty()) return;
  met_damage_ = true;
  for (ipc::Loss& loss : losses) {
    chain_.Lost(loss.pts);
    if (rejected_ > 0) {
      loss.sign = ipc::DamageSign::kRejected;
      rejected_ -= std::min(rejected_, loss.packets);
    }
    later_losses_.push_back(loss);
  }
}

}  // namespace bulkhead::worker::decode
