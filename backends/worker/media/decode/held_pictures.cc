// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/held_pictures.h"

#include <algorithm>
#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker::decode {

void HeldPictures::Forget() {
  held_.clear();
  awaits_next_ = false;
  ended_ = false;
  rejected_ = 0;
  held_pts_ = BULKHEAD_NO_TIMESTAMP;
  losses_.clear();
  later_losses_.clear();
}

void HeldPictures::Restart(std::unique_ptr<damage::PacketInspector> inspector) {
  inspector_ = std::move(inspector);
  outstanding_.Restart(INT64_MIN);
  chain_.Restart();
  check_.Restart();
  damage_ = {};
}

void HeldPictures::RestartAt(int64_t entry) {
  inspector_->Restart();
  outstanding_.Restart(entry);
  chain_.Restart();
  check_.RestartTimestamps();
}

const damage::PacketRole& HeldPictures::Sent(const bulkhead_packet& packet,
                                             bool disposable) {
  check_.Read();
  const bool shows = inspector_->Inspect(packet);
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  if (inspector_->drops_held()) outstanding_.Dropped(held_pts_);
  for (const auto& late : inspector_->late()) {
    outstanding_.Sent(late.pts, late.duration, late.position);
    // The size of a late packet is not known here; 0 changes no limit.
    check_.Sent(late.pts, 0);
  }
  if ((packet.flags & BULKHEAD_PACKET_CORRUPT) != 0) damage_.only_lost = false;
  const bool discarded =
      (packet.flags & BULKHEAD_PACKET_DISCARD) != 0 || inspector_->left_out();
  damage::PacketRole role = inspector_->role();
  role.disposable = disposable;
  // A packet that is left out may have the timestamp of another packet.
  chain_.Sent(role, inspector_->left_out() ? BULKHEAD_NO_TIMESTAMP : packet.pts,
              shows && !discarded);
  if (!shows || discarded) {
    outstanding_.SentWithout(packet.pts, discarded);
  } else {
    if (!role.b_picture) held_pts_ = packet.pts;
    outstanding_.Sent(packet.pts, packet.duration, packet.position);
    check_.Sent(packet.pts, packet.bytes);
  }
  return inspector_->role();
}

void HeldPictures::Rejected() {
  damage_ = {.met = true, .only_lost = false, .complained = true};
  ++rejected_;
  // A packet that cannot be decoded because the stream's beginning is missing
  // breaks nothing, since no later picture refers to it.
  if (!inspector_->left_out()) chain_.Rejected();
}

ipc::Expected<void> HeldPictures::Take(DecodedFrame frame) {
  const auto shown = outstanding_.Shown(frame->pts);
  IPC_TRY(check_.Shown(shown.origin, frame->pts, damage_));
  const bool damaged = frame->damaged != 0;
  if (damaged || frame->met_error != 0) damage_.only_lost = false;
  // The picture that seems lost may come next. That is a breach, and no damage.
  awaits_next_ = sound() && !shown.losses.empty();
  AddLost(shown.losses);
  if (!outstanding_.timed()) chain_.OnlyCount();
  if (frame->met_error != 0) chain_.Doubt();
  chain_.Shown(frame->pts, frame->keyframe != 0, damaged);
  damage_.met = damage_.met || damaged;
  if (damaged && rejected_ > 0) --rejected_;
  using Origin = damage::OutstandingPackets::Origin;
  if (shown.origin == Origin::kDiscarded || shown.origin == Origin::kTooLate ||
      shown.origin == Origin::kLost) {
    return {};
  }
  held_.push_back({{.frame = std::move(frame), .position = shown.position},
                   std::exchange(later_losses_, {})});
  return {};
}

ipc::Expected<void> HeldPictures::End(bool whole) {
  IPC_TRY(check_.Ended(whole && inspector_->met_keyframe(), damage_));
  AddLost(outstanding_.Ended());
  awaits_next_ = false;
  ended_ = true;
  return {};
}

std::optional<HeldPictures::Picture> HeldPictures::Release() {
  if (ended_ && held_.empty()) {
    losses_.insert(losses_.end(), later_losses_.begin(), later_losses_.end());
    later_losses_.clear();
  }
  if (held_.empty() || awaits_next_) return std::nullopt;
  if (!ended_ && held_.size() < kMost &&
      !chain_.Settled(held_.front().picture.frame->pts)) {
    return std::nullopt;
  }
  Held next = std::move(held_.front());
  held_.pop_front();
  losses_.insert(losses_.end(), next.losses.begin(), next.losses.end());
  Picture& picture = next.picture;
  if (picture.frame->damaged != 0) {
    picture.sign = ipc::DamageSign::kFlagged;
  } else if (chain_.Broken(picture.frame->pts)) {
    picture.sign = ipc::DamageSign::kRefersToDamaged;
  }
  return std::move(picture);
}

void HeldPictures::AddLost(std::vector<ipc::Loss> losses) {
  if (losses.empty()) return;
  damage_.met = true;
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
