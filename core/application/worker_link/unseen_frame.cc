// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/unseen_frame.h"

#include <optional>

#include "core/base/status_macros.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/index_entry.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;
using Fate = UnseenFrame::Fate;

Status Violation(const char* what) {
  return Status(Code::kBackendMisbehaved, what);
}

std::optional<Fate> FateIfKnown(schema::UnseenFrame::Fate fate_untrusted) {
  switch (fate_untrusted) {
    case schema::UnseenFrame::Fate::SOUND:
      return Fate::kSound;
    case schema::UnseenFrame::Fate::DAMAGED:
      return Fate::kDamaged;
    case schema::UnseenFrame::Fate::LOST:
      return Fate::kLost;
    case schema::UnseenFrame::Fate::NOT_IN_INDEX:
      return Fate::kNotInIndex;
    case schema::UnseenFrame::Fate::NOTE:
      return Fate::kNote;
  }
  return std::nullopt;
}

Status CheckGap(const UnseenFrame& gap_untrusted, int64_t media_bytes) {
  if (gap_untrusted.count == 0 ||
      gap_untrusted.count > schema::MOST_FRAMES_OF_GAP) {
    return Violation("it reported an impossible number of frames");
  }
  if (gap_untrusted.declared_size >= 0 &&
      gap_untrusted.declared_size <= media_bytes) {
    return Violation("it reported a file that is not cut off as such");
  }
  return Status();
}

Status CheckFrame(const UnseenFrame& frame_untrusted, int64_t skip_before) {
  const bool timed = frame_untrusted.pts != ipc::kNoTimestamp;
  const bool lost = frame_untrusted.fate == Fate::kLost;
  if (!lost && (!timed || frame_untrusted.pts >= skip_before)) {
    return Violation("it left out a frame that was asked for");
  }
  if (frame_untrusted.count == 0 ||
      (frame_untrusted.count > 1 && (timed || !lost))) {
    return Violation("it reported an impossible number of frames");
  }
  return Status();
}

}  // namespace

Result<UnseenFrame> ValidateUnseen(schema::UnseenFrame::Reader frame_untrusted,
                                   int64_t skip_before, int64_t media_bytes) {
  const auto fate = FateIfKnown(frame_untrusted.getFate());
  if (!fate) return Violation("it reported a frame of no known fate");
  const auto sign = SignIfKnown(frame_untrusted.getSign());
  if (!sign) return Violation("it reported damage of no known sign");
  if (ipc::IsNote(*sign) != (*fate == Fate::kNote)) {
    return Violation("it reported damage as a note, or a note as damage");
  }
  UnseenFrame frame{.fate = *fate,
                    .sign = *sign,
                    .pts = frame_untrusted.getPts(),
                    .duration = frame_untrusted.getDuration(),
                    .position = frame_untrusted.getPosition()};
  if (*fate == Fate::kNote) return frame;
  frame.count = frame_untrusted.getCount();
  frame.end_position = frame_untrusted.getEndPosition();
  frame.declared_size = frame_untrusted.getDeclaredSize();
  RETURN_IF_ERROR(*fate == Fate::kNotInIndex ? CheckGap(frame, media_bytes)
                                             : CheckFrame(frame, skip_before));
  return frame;
}

}  // namespace bulkhead::session
