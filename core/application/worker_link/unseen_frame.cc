// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/unseen_frame.h"

#include <optional>

#include "core/base/status_macros.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/index_entry.h"

namespace bulkhead::worker_link {
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

Status CheckGap(const frames::Damage& gap_untrusted, int64_t media_bytes) {
  if (gap_untrusted.packets == 0 ||
      gap_untrusted.packets > schema::MOST_FRAMES_OF_GAP) {
    return Violation("it reported an impossible number of frames");
  }
  if (gap_untrusted.declared_size >= 0 &&
      gap_untrusted.declared_size <= media_bytes) {
    return Violation("it reported a file that is not cut off as such");
  }
  return Status();
}

Status CheckFrame(const frames::Damage& frame_untrusted, bool lost,
                  int64_t skip_before) {
  const bool timed = frame_untrusted.pts != ipc::kNoTimestamp;
  // A frame that is not lost may be unseen only if it is before skip_before.
  if (!lost && (!timed || frame_untrusted.pts >= skip_before)) {
    return Violation("it left out a frame that was asked for");
  }
  // Only lost packets without a timestamp are reported several at a time.
  if (frame_untrusted.packets == 0 ||
      (frame_untrusted.packets > 1 && (timed || !lost))) {
    return Violation("it reported an impossible number of frames");
  }
  return Status();
}

}  // namespace

Result<UnseenFrame> ValidateUnseen(schema::UnseenFrame::Reader frame_untrusted,
                                   int64_t skip_before, int64_t media_bytes) {
  const auto fate = FateIfKnown(frame_untrusted.getFate());
  if (!fate) return Violation("it reported a frame of no known fate");
  const auto sign = worker_protocol::SignIfKnown(frame_untrusted.getSign());
  if (!sign) return Violation("it reported damage of no known sign");
  if (ipc::IsNote(*sign) != (*fate == Fate::kNote)) {
    return Violation("it reported damage as a note, or a note as damage");
  }
  UnseenFrame frame{.fate = *fate};
  frames::Damage& damage = frame.damage;
  damage.pts = frame_untrusted.getPts();
  damage.duration = frame_untrusted.getDuration();
  damage.position = frame_untrusted.getPosition();
  damage.sign = *sign;
  damage.packets = 0;
  if (*fate == Fate::kNote) return frame;
  damage.packets = frame_untrusted.getCount();
  damage.not_in_index = *fate == Fate::kNotInIndex;
  damage.end_position = frame_untrusted.getEndPosition();
  damage.declared_size = frame_untrusted.getDeclaredSize();
  RETURN_IF_ERROR(damage.not_in_index
                      ? CheckGap(damage, media_bytes)
                      : CheckFrame(damage, *fate == Fate::kLost, skip_before));
  return frame;
}

}  // namespace bulkhead::worker_link
