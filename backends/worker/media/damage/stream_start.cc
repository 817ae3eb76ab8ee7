// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/stream_start.h"

#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::damage {
namespace {

// After so many packets, no picture is shown before an earlier entry.
constexpr int kMostReordered = 32;

}  // namespace

std::optional<int> StreamStart::entry_count() const {
  if (!entered_ || settled_ || after_entry_ > 0) return std::nullopt;
  return entry_count_;
}

bool StreamStart::awaits_entry() const {
  const bool refers =
      codec_ == AV_CODEC_ID_H264 || codec_ == AV_CODEC_ID_MPEG1VIDEO ||
      codec_ == AV_CODEC_ID_MPEG2VIDEO || codec_ == AV_CODEC_ID_MPEG4;
  return refers && !settled_;
}

bool StreamStart::LeavesOut(const PacketRole& role, int type, int count) {
  if (role.second_field) return left_out_;
  switch (codec_) {
    case AV_CODEC_ID_HEVC:
      left_out_ = LeavesOutHevc(role, count);
      break;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
      left_out_ = !settled_ && LeavesOutMpeg(role, type);
      break;
    case AV_CODEC_ID_H264:
      left_out_ = !settled_ && LeavesOutH264(role, type, count);
      break;
    default:
      break;
  }
  return left_out_;
}

bool StreamStart::LeavesOutHevc(const PacketRole& role, int count) {
  if (role.entry) {
    lacks_leading_ = role.begins_sequence || sequence_ended_;
    sequence_ended_ = false;
    leads_to_ = count;
  }
  sequence_ended_ = sequence_ended_ || role.ends_sequence;
  const bool leads = leads_to_ == INT_MIN || count < leads_to_;
  return role.skipped_leading && lacks_leading_ && leads;
}

bool StreamStart::LeavesOutMpeg(const PacketRole& role, int type) {
  // A file that was cut at any byte begins with the end of a picture.
  const bool is_rest = type == AV_PICTURE_TYPE_NONE && !role.keyframe &&
                       std::exchange(is_first_, false);
  if (is_rest) return codec_ != AV_CODEC_ID_MPEG4;
  is_first_ = false;
  // Nothing is left out after unreadable headers, which may be damage, or after
  // two pictures that others refer to.
  settled_ = type == AV_PICTURE_TYPE_NONE || references_ == 2;
  if (settled_) return false;
  if (role.closed) closed_ = true;
  if (type == AV_PICTURE_TYPE_I) {
    ++references_;
    return false;
  }
  // Decoders of MPEG-4 show P-pictures all the same, with grey references.
  if (references_ == 0 && codec_ != AV_CODEC_ID_MPEG4) return true;
  if (type == AV_PICTURE_TYPE_B) return !closed_;
  ++references_;
  return false;
}

bool StreamStart::IsEntry(const PacketRole& role, int type) {
  if (role.entry || type == AV_PICTURE_TYPE_I) return true;
  if (refresh_left_ > 0) return role.referred && --refresh_left_ == 0;
  refresh_left_ = role.refresh;
  return false;
}

bool StreamStart::LeavesOutH264(const PacketRole& role, int type, int count) {
  if (entered_) {
    settled_ = role.entry || ++after_entry_ > kMostReordered;
    return !settled_ && count != INT_MIN && count < entry_count_;
  }
  const bool readable = type != AV_PICTURE_TYPE_NONE;
  if (IsEntry(role, type)) {
    entered_ = true;
    entry_count_ = count;
    settled_ = role.closed || count == INT_MIN;
    return false;
  }
  // If the container calls this packet a keyframe and its headers do not, the
  // packet is damaged.
  settled_ = !readable || before_ == Before::kSeek ||
             (role.keyframe && refresh_left_ == 0);
  return !settled_;
}

}  // namespace bulkhead::worker::damage
