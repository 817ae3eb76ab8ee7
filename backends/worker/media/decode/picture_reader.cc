// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/picture_reader.h"

#include <algorithm>
#include <utility>

#include "backends/worker/media/damage/packet_role.h"
#include "backends/worker/media/demux/missing_end.h"
#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// The most pictures that a decoder may give for one packet on the average. A
// damaged packet, or one of VP9, can hold several.
constexpr uint64_t kMostPictures = 16;

// The most frames that are reported as missing at the end of a file.
constexpr uint64_t kMostMissing = 1'000'000;

// The fewest frames that make a gap before the end in the header. The last one
// may be shown longer.
constexpr uint64_t kLeastGap = 3;

// No decoder delays a picture by more than its picture buffer, which has room
// for 16. A packet that is waited for longer has a damaged timestamp.
constexpr size_t kMostHeld = 32;
constexpr int kMostReordered = 16;

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
      points_(demuxer_->MakeAccessPoints()),
      gaps_(static_cast<size_t>(
          std::clamp(demuxer_->facts().video_delay, 0, kMostReordered))) {}

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
  equal_timestamps_.Restart();
  gaps_.Restart();
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
  last_is_marked_ = false;
  rejected_ = 0;
  held_pts_ = BULKHEAD_NO_TIMESTAMP;
  latest_end_ = BULKHEAD_NO_TIMESTAMP;
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

ipc::Expected<void> PictureReader::SeekToPacket(const PacketMark& mark) {
  at_beginning_ = false;
  return Enter(demuxer_->SeekToPacket(mark), /*at_point=*/true);
}

ipc::Expected<void> PictureReader::Enter(const ipc::Expected<void>& sought,
                                         bool at_point) {
  // A failed seek may leave the demuxer anywhere, so only the beginning is
  // safe.
  if (!sought || demuxer_->at_beginning()) return SeekToBeginning();
  if (met_damage_ || !sound_ || !points_.FlushSufficesFor(demuxer_->packet())) {
    // What the decoder took from damaged packets outlives a flush: headers, and
    // coefficients of H.264. Their pictures need not have come out.
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
  equal_timestamps_.Restart();
  gaps_.Restart();
  return {};
}

std::unique_ptr<Demuxer> PictureReader::Lend() {
  // The decoder is to get that packet once more.
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
  const bool flagged = picture_->damaged != 0;
  damaged_ = flagged || chain_.Broken(picture_->pts);
  sign_ =
      flagged ? ipc::DamageSign::kFlagged : ipc::DamageSign::kRefersToDamaged;
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
  TellLosses(shown.losses);
  if (!outstanding_.timed()) chain_.OnlyCount();
  if (frame->met_error != 0) chain_.Doubt();
  chain_.Shown(frame->pts, frame->keyframe != 0, damaged);
  met_damage_ = met_damage_ || damaged;
  if (damaged && rejected_ > 0) --rejected_;
  using Origin = OutstandingPackets::Origin;
  if (shown.origin == Origin::kDiscarded || shown.origin == Origin::kTooLate ||
      shown.origin == Origin::kLost) {
    return {};
  }
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
  TellLosses(outstanding_.Ended());
  while (const auto behind = gaps_.Ended()) TellGap(*behind);
  TellMissingEnd();
  awaits_next_ = false;
  drained_ = true;
  return {};
}

uint32_t PictureReader::access_check() const {
  const auto mark = std::find_if(
      marks_.begin(), marks_.end(), [this](const PacketMark& other) {
        return other.timestamp == picture_->pts && other.position == position_;
      });
  return mark == marks_.end() ? 0 : mark->check;
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
  if (last_is_marked_) TellNote(ipc::DamageSign::kMarked);
  const bulkhead_packet& packet = demuxer_->packet();
  ++packets_;
  last_pts_ = packet.pts;
  last_duration_ = packet.duration;
  last_position_ = packet.position;
  int64_t end;
  if (packet.pts != BULKHEAD_NO_TIMESTAMP &&
      !__builtin_add_overflow(packet.pts, packet.duration, &end)) {
    latest_end_ = std::max(latest_end_, end);
  }
  last_is_marked_ = (packet.flags & BULKHEAD_PACKET_CORRUPT) != 0;
  const bool shows = inspector_->Inspect(packet);
  const bool is_point = points_.Read(packet, inspector_->role());
  if (is_point && knows_points_) {
    marks_.push_back(MarkOf(packet));
    if (marks_.size() > kMostHeld) marks_.pop_front();
  }
  if (inspector_->role().has_picture && !inspector_->role().second_field) {
    const auto behind = gaps_.Sent({packet.pts, packet.position});
    if (behind) TellGap(*behind);
  }
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  if (inspector_->drops_held()) outstanding_.Dropped(held_pts_);
  for (const auto& late : inspector_->late()) {
    outstanding_.Sent(late.pts, late.duration, late.position);
    equal_timestamps_.Sent(late.pts, 0);
  }
  if (last_is_marked_) sound_ = false;
  const bool discarded =
      (packet.flags & BULKHEAD_PACKET_DISCARD) != 0 || inspector_->left_out();
  PacketRole role = inspector_->role();
  role.disposable = demuxer_->disposable();
  // What is left out may have the time of another packet.
  chain_.Sent(role, inspector_->left_out() ? BULKHEAD_NO_TIMESTAMP : packet.pts,
              shows && !discarded);
  if (!shows || discarded) {
    outstanding_.SentWithout(packet.pts, discarded);
    return {};
  }
  if (!role.b_picture) held_pts_ = packet.pts;
  outstanding_.Sent(packet.pts, packet.duration, packet.position);
  equal_timestamps_.Sent(packet.pts, packet.bytes);
  return {};
}

void PictureReader::TellNote(ipc::DamageSign sign) {
  later_losses_.push_back({.pts = last_pts_,
                           .duration = last_duration_,
                           .position = last_position_,
                           .packets = 1,
                           .sign = sign});
}

void PictureReader::TellGap(const TimestampGaps::Packet& behind) {
  later_losses_.push_back({.pts = behind.pts,
                           .duration = 0,
                           .position = behind.position,
                           .packets = 1,
                           .sign = ipc::DamageSign::kGap});
}

void PictureReader::TellLosses(std::vector<Loss> losses) {
  if (losses.empty()) return;
  met_damage_ = true;
  for (Loss& loss : losses) {
    chain_.Lost(loss.pts);
    if (rejected_ > 0) {
      loss.sign = ipc::DamageSign::kRejected;
      rejected_ -= std::min(rejected_, loss.packets);
    }
    later_losses_.push_back(loss);
  }
}

uint64_t PictureReader::FramesUntil(int64_t end) const {
  const bulkhead_rational rate = demuxer_->facts().average_frame_rate;
  const bulkhead_rational unit = demuxer_->facts().time_base;
  if (end == BULKHEAD_NO_TIMESTAMP || latest_end_ == BULKHEAD_NO_TIMESTAMP ||
      end <= latest_end_ || rate.numerator <= 0 || rate.denominator <= 0 ||
      unit.numerator <= 0 || unit.denominator <= 0) {
    return 0;
  }
  const __int128 frames = (__int128{end} - latest_end_) * unit.numerator *
                          rate.numerator /
                          (__int128{unit.denominator} * rate.denominator);
  return static_cast<uint64_t>(std::min<__int128>(frames, kMostMissing));
}

void PictureReader::TellMissingEnd() {
  // The host reports a file that has become shorter.
  if (demuxer_->shrank()) return;
  const MissingEnd missing = demuxer_->missing_end();
  Loss loss{.pts = latest_end_,
            .duration = 0,
            .position = -1,
            .packets = 1,
            .not_in_index = true,
            .end_position = demuxer_->size()};
  if (!missing.error.empty()) {
    loss.sign = ipc::DamageSign::kStopped;
    loss.position = std::min(missing.byte, demuxer_->size() - 1);
    later_losses_.push_back(loss);
    return;
  }
  loss.sign = ipc::DamageSign::kCutOff;
  loss.declared_size = missing.declared_size;
  loss.packets = std::min(missing.packets, kMostMissing);
  if (loss.packets == 0 && missing.declared_size > 0) {
    loss.packets = FramesUntil(missing.end);
  }
  if (loss.packets > 0) {
    if (missing.end != BULKHEAD_NO_TIMESTAMP &&
        loss.pts != BULKHEAD_NO_TIMESTAMP &&
        __builtin_sub_overflow(missing.end, loss.pts, &loss.duration)) {
      loss.duration = 0;
    }
    loss.duration = std::max<int64_t>(loss.duration, 0);
    later_losses_.push_back(loss);
  } else if (missing.ends_in_packet) {
    TellNote(ipc::DamageSign::kEndsInPacket);
  } else if (missing.is_of_stream && FramesUntil(missing.end) >= kLeastGap) {
    TellGap({.pts = latest_end_, .position = last_position_});
  } else if (last_is_marked_) {
    TellNote(ipc::DamageSign::kMarked);
  }
}

}  // namespace bulkhead::worker
