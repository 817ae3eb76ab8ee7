// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/application/frames/damage_log.h"
#include "core/application/session/cut_off.h"
#include "core/application/session/video_session.h"

// Damage in words: how the errors of a VideoSession describe it.
namespace bulkhead::session {

Status VideoSession::DamagedError(const Damage& damage) const {
  return Status(
      Code::kBadInput,
      input().name() + ": " +
          (damage.not_in_index ? DescribeGap(damage)
                               : DescribeDamaged(damage)) +
          "; read on after it, or set on_corrupt to skip, nearest or show "
          "(--on-corrupt skip)");
}

std::string VideoSession::DescribeGap(const Damage& gap) const {
  const auto seconds = [this](int64_t pts) {
    return std::to_string(static_cast<double>(pts) *
                          metadata_.time_base.value());
  };
  std::string text = "about " + std::to_string(gap.frames) +
                     (gap.frames == 1 ? " frame is" : " frames are");
  const bool timed = TimeOf(gap.pts, metadata_.time_base.value()).has_value();
  const bool is_at_end = gap.end_position >= input().bytes();
  const std::string sizes =
      SizesOfCut(metadata_.container, gap.declared_size, input().bytes());
  if (is_at_end && (gap.declared_size >= 0 || gap.declared_frames > 0)) {
    text += " missing at the end";
    if (timed) text += ", from " + seconds(gap.pts) + " s on";
    text += ": the file is cut off, ";
    if (gap.declared_size < 0) {
      return text + "its header tells " + std::to_string(gap.declared_frames) +
             " frames and it has " +
             std::to_string(gap.declared_frames - gap.frames);
    }
    return text + sizes + DurationOfCut(metadata_.container, metadata_);
  }
  text += " lost";
  int64_t end;
  if (timed && !__builtin_add_overflow(gap.pts, gap.duration, &end)) {
    text += gap.duration > 0
                ? " between " + seconds(gap.pts) + " and " + seconds(end) + " s"
                : " before " + seconds(gap.pts) + " s";
  }
  if (gap.declared_size >= 0) {
    text += ": bytes of the file are missing";
    if (gap.position >= 0) {
      text += " before byte " + std::to_string(gap.position);
    }
    return text + ", " + sizes;
  }
  if (gap.position < 0) return text;
  text += ": the file is damaged at byte " + std::to_string(gap.position);
  if (gap.end_position <= gap.position) return text;
  return text + " to " + std::to_string(gap.end_position);
}

std::string VideoSession::DescribeDamaged(const Damage& damage) const {
  std::string text;
  const auto time = TimeOf(damage.pts, metadata_.time_base.value());
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
    text += ", whose timestamps do not tell where";
  } else {
    text += damage.frame ? "frame " + std::to_string(*damage.frame) : "a frame";
    if (time) text += " at " + std::to_string(*time) + " s";
    if (damage.position >= 0) {
      text += ", byte " + std::to_string(damage.position) + " of the file,";
    }
    text += damage.silent ? " is missing" : " is damaged";
  }
  if (damage.silent) {
    // Nothing but another decoder can tell which of the two it is.
    text += ": backend " + metadata_.backend +
            " gave neither a picture nor an error for it before it gave later "
            "ones or ended the stream, so the file is damaged there or before, "
            "or the backend lost it";
  }
  return text + Quote(metadata_.backend, damage.words.empty()
                                             ? damage_.WordsAbout(damage.frame)
                                             : damage.words);
}

}  // namespace bulkhead::session
