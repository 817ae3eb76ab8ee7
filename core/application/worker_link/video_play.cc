// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/video_play.h"

#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/damage_sign.h"
#include "ipc/index_entry.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {

namespace schema = ipc::schema;

void VideoPlay::Open(int64_t media_bytes, uint64_t max_passed) {
  media_bytes_ = media_bytes;
  max_passed_ = max_passed;
}

void VideoPlay::Begin(const PlayRequest& play) {
  play_ = {.epoch = play_.epoch + 1, .playing = true};
  frames_left_ = play.max_frames;
  skip_before_ = play.skip_before;
  unseen_.clear();
  if (play.start == PlayRequest::Start::kOnward) return;
  entering_ = true;
  to_beginning_ = play.start == PlayRequest::Start::kBeginning;
  to_packet_.reset();
  if (play.start == PlayRequest::Start::kPacket) to_packet_ = play.entry.pts;
  BeginStep();
}

Result<bool> VideoPlay::Owns(schema::Reply::Reader reply_untrusted) const {
  ASSIGN_OR_RETURN(const bool current, IsOf(play_, link_, reply_untrusted));
  // A worker may fail, or wait for a slot, before it knows where it begins.
  if (current && entering_ && !reply_untrusted.isEntered() &&
      !reply_untrusted.isNeedsSlot() && !reply_untrusted.isFailed()) {
    return link_.Misbehaved("it did not say where it began");
  }
  return current;
}

Status VideoPlay::CountIfValid(const PublishedFrame& frame) {
  if (frames_left_ == 0 ||
      (frame.pts != ipc::kNoTimestamp && frame.pts < skip_before_)) {
    return link_.Misbehaved("it published a frame that was to be left out");
  }
  --frames_left_;
  // A frame without a timestamp cannot be compared with skip_before, so it is
  // published. Like a damaged frame, it may not be the wanted frame.
  const bool out_of_time =
      frame.pts == ipc::kNoTimestamp && skip_before_ != INT64_MIN;
  if (frame.damaged || out_of_time) RETURN_IF_ERROR(CountPassed(1));
  return Status();
}

Status VideoPlay::AdoptEntryIfValid(schema::Entered::Reader entered_untrusted) {
  if (!entering_) return link_.Misbehaved("it began where it was to go on");
  entering_ = false;
  entry_untrusted_.reset();
  if (entered_untrusted.isKeyframe()) {
    entry_untrusted_ = entered_untrusted.getKeyframe();
    if (to_beginning_ || (to_packet_ && *to_packet_ != *entry_untrusted_)) {
      return link_.Misbehaved("it began at another place");
    }
  }
  return Status();
}

Status VideoPlay::AdoptUnseenIfValid(schema::Unseen::Reader unseen_untrusted) {
  using Fate = UnseenFrame::Fate;
  const std::string words =
      worker_protocol::CleanWords(unseen_untrusted.getWords());
  for (const auto frame_untrusted : unseen_untrusted.getFrames()) {
    auto frame = ValidateUnseen(frame_untrusted, skip_before_, media_bytes_);
    if (!frame) return link_.Misbehaved(frame.error().message());
    frames::Damage& damage = frame->damage;
    if (frame->fate == Fate::kLost ||
        damage.sign == ipc::DamageSign::kStopped) {
      damage.words = words;
    }
    damage.silent = frame->fate == Fate::kLost && damage.words.empty() &&
                    (damage.sign == ipc::DamageSign::kNoPicture ||
                     damage.sign == ipc::DamageSign::kUnknown);
    // A gap counts as one frame, because its number of frames is an estimate. A
    // note counts as one frame too, because the host has to remember it.
    const bool is_frame =
        frame->fate != Fate::kNotInIndex && frame->fate != Fate::kNote;
    RETURN_IF_ERROR(CountPassed(is_frame ? damage.packets : 1));
    unseen_.push_back(*std::move(frame));
  }
  return Status();
}

std::optional<UnseenFrame> VideoPlay::TakeUnseen() {
  if (unseen_.empty()) return std::nullopt;
  UnseenFrame frame = std::move(unseen_.front());
  unseen_.pop_front();
  return frame;
}

Status VideoPlay::CountPassed(uint64_t frames) {
  // The worker is not killed, because the file may be to blame: a file of a few
  // bytes can have any number of frames.
  if (frames > passed_left_) {
    return Status(Code::kResourceExhausted,
                  "there are more than " + std::to_string(max_passed_) +
                      " frames before the wanted one; raise " +
                      ipc::LimitName("index_frames"));
  }
  passed_left_ -= frames;
  return Status();
}

}  // namespace bulkhead::worker_link
