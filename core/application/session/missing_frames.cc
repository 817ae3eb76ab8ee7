// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/missing_frames.h"

#include <string>

#include "core/application/session/cut_off.h"
#include "ipc/index_entry.h"

namespace bulkhead::session {

ipc::DamageSign WhyMissing(const worker_link::MediaInput& input) {
  return input.lost_bytes() > 0 ? ipc::DamageSign::kShrunk
                                : ipc::DamageSign::kPromised;
}

Status CheckEnd(uint64_t got, const frames::FrameIndex* index,
                OnCorrupt on_corrupt, const worker_link::MediaInput& input,
                const VideoMetadata& metadata, frames::DamageLog& log) {
  std::string text = input.name();
  if (index != nullptr) {
    if (got >= index->size()) return Status();
    const ipc::DamageSign sign = WhyMissing(input);
    for (uint64_t i = got; i < index->size(); ++i) {
      log.Add(
          {{.pts = index->timestamped() ? (*index)[i].pts : ipc::kNoTimestamp,
            .duration = (*index)[i].duration,
            .sign = sign},
           i});
    }
    text += ": frames " + std::to_string(got) + " to " +
            std::to_string(index->size() - 1) + " are missing";
    if (sign == ipc::DamageSign::kPromised) {
      text += ": the index has them, and the pass did not give them";
    }
  } else {
    if (!AddUncounted(got, input, metadata, log)) return Status();
    text +=
        ": frames after the first " + std::to_string(got) + " may be missing";
  }
  text += Shortened(input.bytes(), input.lost_bytes());
  if (on_corrupt != OnCorrupt::kError) return Status();
  return Status(Code::kBadInput,
                text +
                    "; open it again, or set on_corrupt to skip or nearest "
                    "(--on-corrupt skip)");
}

bool AddUncounted(uint64_t got, const worker_link::MediaInput& input,
                  const VideoMetadata& metadata, frames::DamageLog& log) {
  const auto promised = metadata.frame_count_from_header;
  if (input.lost_bytes() == 0 || (promised && *promised <= got)) return false;
  // If the header states no number of frames, 1 stands for an unknown number.
  log.Add({{.packets = promised ? *promised - got : 1,
            .sign = ipc::DamageSign::kShrunk}});
  return true;
}

Status LostFrameError(uint64_t frame, const worker_link::MediaInput& input) {
  return Status(Code::kBadInput,
                input.name() + ": frame " + std::to_string(frame) +
                    " is missing" +
                    Shortened(input.bytes(), input.lost_bytes()));
}

Status UncountedError(const worker_link::MediaInput& input) {
  return Status(Code::kBadInput,
                input.name() + ": its frames cannot be counted" +
                    Shortened(input.bytes(), input.lost_bytes()) +
                    "; open it again, or set on_corrupt to skip or nearest "
                    "(--on-corrupt skip)");
}

Status NamingTheLoss(Status failure, const worker_link::MediaInput& input) {
  if (failure.code() != Code::kBadInput || input.lost_bytes() == 0) {
    return failure;
  }
  return Status(
      failure.code(),
      failure.message() + Shortened(input.bytes(), input.lost_bytes()));
}

}  // namespace bulkhead::session
