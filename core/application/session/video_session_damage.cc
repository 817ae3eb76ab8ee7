// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/application/frames/damage_log.h"
#include "core/application/session/cut_off.h"
#include "core/application/session/video_session.h"
#include "core/base/damage_from_ipc.h"

// Damage of a VideoSession: how its errors describe damage, and the damage that
// no worker reports, of frames that did not come.
namespace bulkhead::session {

Status VideoSession::DamagedError(const Damage& damage) const {
  return Status(
      Code::kBadInput,
      input().name() + ": " +
          (damage.not_in_index ? DescribeMissingEnd(damage)
                               : DescribeDamaged(damage)) +
          "; read on after it, or set on_corrupt to skip, nearest or show "
          "(--on-corrupt skip)");
}

std::string VideoSession::DescribeMissingEnd(const Damage& end) const {
  std::string text = "about " + std::to_string(end.frames) +
                     (end.frames == 1 ? " frame is" : " frames are") +
                     " missing at the end";
  if (const auto time = TimeOf(end.pts, metadata_.time_base.value())) {
    text += ", from " + std::to_string(*time) + " s on";
  }
  if (end.position >= 0) {
    text += ", byte " + std::to_string(end.position) + " of the file";
  }
  if (end.declared_size >= 0) {
    return text + ": the file is cut off, " +
           SizesOfCut(metadata_.container, end.declared_size, input().bytes()) +
           DurationOfCut(metadata_.container, metadata_);
  }
  text += std::string(": ") + DamageSignText(FromIpc(end.sign));
  return text + Quote(metadata_.backend, end.words, end.sign);
}

std::string VideoSession::DescribeDamaged(const Damage& damage) const {
  std::string text;
  const auto time = TimeOf(damage.pts, metadata_.time_base.value());
  const std::string sign = DamageSignText(FromIpc(damage.sign));
  if (!HasPlace(damage)) {
    text += std::to_string(damage.frames) +
            (damage.frames == 1 ? " packet" : " packets") +
            " yielded no frame, somewhere";
    if (damage.end_position > damage.position) {
      text += " from byte " + std::to_string(damage.position) + " to " +
              std::to_string(damage.end_position - 1) + " of the file";
    } else {
      text += " in the stream";
    }
    text += ", whose timestamps do not tell where: " + sign;
  } else {
    text += damage.frame ? "frame " + std::to_string(*damage.frame) : "a frame";
    if (time) text += " at " + std::to_string(*time) + " s";
    if (damage.position >= 0) {
      text += ", byte " + std::to_string(damage.position) + " of the file,";
    }
    text += (damage.silent ? " is missing: " : " is damaged: ") + sign;
  }
  if (damage.silent) {
    // Nothing but another decoder can say which of the two it is.
    text += "; backend " + metadata_.backend +
            " gave neither a picture nor an error for it before it gave later "
            "ones or ended the stream, so the file is damaged there or before, "
            "or the backend lost it";
  }
  return text + Quote(metadata_.backend,
                      damage.words.empty() ? damage_.WordsAbout(damage.frame)
                                           : damage.words,
                      damage.sign);
}

ipc::DamageSign VideoSession::WhyMissing() const {
  return input().lost_bytes() > 0 ? ipc::DamageSign::kShrunk
                                  : ipc::DamageSign::kPromised;
}

Status VideoSession::CheckEnd() {
  const uint64_t got = sequence_.frames();
  std::string text = input().name();
  if (index_is_whole_) {
    const FrameIndex& index = finder_->index();
    if (got >= index.size()) return Status();
    const ipc::DamageSign sign = WhyMissing();
    for (uint64_t i = got; i < index.size(); ++i) {
      damage_.Add(
          {.sign = sign,
           .frame = i,
           .pts = index.timestamped() ? index[i].pts : ipc::kNoTimestamp,
           .duration = index[i].duration});
    }
    text += ": frames " + std::to_string(got) + " to " +
            std::to_string(index.size() - 1) + " are missing";
    if (sign == ipc::DamageSign::kPromised) {
      text += ": the index has them, and the pass did not give them";
    }
  } else {
    if (!AddUncounted(got)) return Status();
    text +=
        ": frames behind the first " + std::to_string(got) + " may be missing";
  }
  text += Shortened(input().bytes(), input().lost_bytes());
  if (options_.on_corrupt != OnCorrupt::kError) return Status();
  return Status(Code::kBadInput,
                text +
                    "; open it again, or set on_corrupt to skip or nearest "
                    "(--on-corrupt skip)");
}

bool VideoSession::AddUncounted(uint64_t got) {
  const auto told = metadata_.frame_count_from_header;
  if (input().lost_bytes() == 0 || (told && *told <= got)) return false;
  // Where the header does not say how many frames there were, it is at least
  // one.
  damage_.Add(
      {.sign = ipc::DamageSign::kShrunk, .frames = told ? *told - got : 1});
  return true;
}

}  // namespace bulkhead::session
