// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/damage_words.h"

#include "core/application/session/cut_off.h"
#include "core/base/damage_from_ipc.h"

namespace bulkhead::session {
namespace {

// Returns what is missing at the end of the file, in words.
std::string DescribeMissingEnd(const frames::Damage& end,
                               const worker_link::MediaInput& input,
                               const VideoMetadata& metadata) {
  std::string text = "about " + std::to_string(end.packets) +
                     (end.packets == 1 ? " frame is" : " frames are") +
                     " missing at the end";
  if (const auto time = frames::TimeOf(end.pts, metadata.time_base.value())) {
    text += ", from " + std::to_string(*time) + " s on";
  }
  if (end.position >= 0) {
    text += ", byte " + std::to_string(end.position) + " of the file";
  }
  if (end.declared_size >= 0) {
    return text + ": the file is cut off, " +
           SizesOfCut(metadata.container, end.declared_size, input.bytes()) +
           DurationOfCut(metadata.container, metadata);
  }
  text += std::string(": ") + DamageSignText(FromIpc(end.sign));
  return text + Quote(metadata.backend, end.words, end.sign);
}

std::string DescribeDamaged(const frames::Damage& damage,
                            const VideoMetadata& metadata,
                            const frames::DamageLog& log) {
  std::string text;
  const auto time = frames::TimeOf(damage.pts, metadata.time_base.value());
  const std::string sign = DamageSignText(FromIpc(damage.sign));
  if (!frames::HasPlace(damage)) {
    text += std::to_string(damage.packets) +
            (damage.packets == 1 ? " packet" : " packets") +
            " yielded no frame, somewhere";
    if (damage.end_position > damage.position) {
      text += " from byte " + std::to_string(damage.position) + " to " +
              std::to_string(damage.end_position - 1) + " of the file";
    } else {
      text += " in the stream";
    }
    text += ", whose timestamps do not say where: " + sign;
  } else {
    text += damage.frame ? "frame " + std::to_string(*damage.frame) : "a frame";
    if (time) text += " at " + std::to_string(*time) + " s";
    if (damage.position >= 0) {
      text += ", byte " + std::to_string(damage.position) + " of the file,";
    }
    text += (damage.silent ? " is missing: " : " is damaged: ") + sign;
  }
  if (damage.silent) {
    // Only another decoder could show whether the file or the backend is at
    // fault.
    text += "; backend " + metadata.backend +
            " gave neither a picture nor an error for it before it gave later "
            "ones or ended the stream, so the file is damaged there or before, "
            "or the backend lost it";
  }
  return text + Quote(metadata.backend,
                      damage.words.empty() ? log.WordsAbout(damage.frame)
                                           : damage.words,
                      damage.sign);
}

}  // namespace

std::string Quote(const std::string& backend, const std::string& words,
                  ipc::DamageSign sign) {
  if (words.empty()) return "";
  const std::string who =
      sign == ipc::DamageSign::kStopped ? "libavformat" : "backend " + backend;
  return "; " + who + " says: \"" + words + '"';
}

Status DamagedError(const frames::Damage& damage,
                    const worker_link::MediaInput& input,
                    const VideoMetadata& metadata,
                    const frames::DamageLog& log) {
  return Status(
      Code::kBadInput,
      input.name() + ": " +
          (damage.not_in_index ? DescribeMissingEnd(damage, input, metadata)
                               : DescribeDamaged(damage, metadata, log)) +
          "; read on after it, or set on_corrupt to skip, nearest or show "
          "(--on-corrupt skip)");
}

}  // namespace bulkhead::session
