// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/packet_inspector.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <optional>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::damage {
namespace {

// Twice the size of the largest decoded picture buffer. No decoder delays a
// picture by more than that.
constexpr size_t kRecentPictures = 32;

// The fixed bytes in the header of a keyframe (RFC 6386, section 9.1; VP9
// bitstream specification, section 6.2).
constexpr uint8_t kVp8StartCode[] = {0x9d, 0x01, 0x2a};
constexpr uint8_t kVp9SyncCode[] = {0x49, 0x83, 0x42};

bool HasBytes(const bulkhead_packet& packet, size_t at,
              const uint8_t (&bytes)[3]) {
  return packet.bytes >= at + sizeof(bytes) &&
         std::equal(std::begin(bytes), std::end(bytes), packet.data + at);
}

}  // namespace

std::unique_ptr<PacketInspector> PacketInspector::Create(
    const AVCodecParameters& parameters) {
  std::unique_ptr<PacketInspector> inspector(new PacketInspector(parameters));
  switch (parameters.codec_id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
      inspector->reordering_ = Reordering::kByCount;
      break;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
      inspector->reordering_ = Reordering::kByType;
      break;
    default: {
      const AVCodecDescriptor* codec =
          avcodec_descriptor_get(parameters.codec_id);
      if (codec != nullptr && (codec->props & AV_CODEC_PROP_REORDER) == 0) {
        inspector->reordering_ = Reordering::kNone;
      }
      return inspector;
    }
  }
  inspector->context_ = avcodec_alloc_context3(nullptr);
  if (inspector->context_ != nullptr &&
      avcodec_parameters_to_context(inspector->context_, &parameters) >= 0) {
    inspector->parser_ = av_parser_init(parameters.codec_id);
  }
  if (inspector->parser_ != nullptr) {
    inspector->parser_->flags |= PARSER_FLAG_COMPLETE_FRAMES;
  }
  return inspector;
}

PacketInspector::PacketInspector(const AVCodecParameters& parameters)
    : codec_(parameters.codec_id),
      roles_(parameters),
      shown_(parameters),
      start_(codec_, StreamStart::Before::kNothing) {}

PacketInspector::~PacketInspector() {
  av_parser_close(parser_);
  avcodec_free_context(&context_);
}

void PacketInspector::Restart() {
  start_ = StreamStart(codec_, StreamStart::Before::kSeek);
  shown_.Restart();
  recent_.clear();
  open_field_ = 0;
  latest_ = INT64_MIN;
  floor_ = INT64_MIN;
}

void PacketInspector::Parse(const bulkhead_packet& packet) {
  parser_->output_picture_number = INT_MIN;
  parser_->pict_type = AV_PICTURE_TYPE_NONE;
  parser_->picture_structure = AV_PICTURE_STRUCTURE_UNKNOWN;
  uint8_t* data = nullptr;
  int bytes = 0;
  av_parser_parse2(parser_, context_, &data, &bytes, packet.data,
                   static_cast<int>(packet.bytes), packet.pts, packet.dts,
                   packet.position);
}

bool PacketInspector::Inspect(const bulkhead_packet& packet) {
  late_.clear();
  if (parser_ != nullptr) Parse(packet);
  role_ = roles_.Read(packet, parser_ == nullptr ? int{AV_PICTURE_TYPE_NONE}
                                                 : parser_->pict_type);
  met_keyframe_ = met_keyframe_ || IsKeyframe(packet);
  const bool shows = Shows(packet);
  if (shown_.has_packed()) ordered_ = false;
  const bool parsed = parser_ != nullptr;
  left_out_ = start_.LeavesOut(
      role_, parsed ? parser_->pict_type : int{AV_PICTURE_TYPE_NONE},
      parsed ? parser_->output_picture_number : INT_MIN);
  if (shows && codec_ == AV_CODEC_ID_H264 && parsed) {
    NoteLeftOut(packet, parser_->output_picture_number);
  }
  if (!shows || left_out_) return false;
  const bool discarded = (packet.flags & BULKHEAD_PACKET_DISCARD) != 0;
  if (packet.pts == BULKHEAD_NO_TIMESTAMP || discarded) return true;
  switch (reordering_) {
    case Reordering::kNone:
      if (packet.pts < latest_) ordered_ = false;
      latest_ = std::max(latest_, packet.pts);
      break;
    case Reordering::kByCount:
      if (parser_ != nullptr) CheckCount(packet.pts);
      break;
    case Reordering::kByType:
      if (parser_ != nullptr) CheckType(packet.pts);
      break;
    case Reordering::kUnknown:
      break;
  }
  return true;
}

void PacketInspector::NoteLeftOut(const bulkhead_packet& packet, int count) {
  if ((packet.flags & BULKHEAD_PACKET_DISCARD) != 0) return;
  if (left_out_ && start_.awaits_entry()) {
    if (early_.size() == kRecentPictures) early_.erase(early_.begin());
    early_.push_back({count, packet.pts, packet.dts, packet.duration,
                      packet.position, packet.flags});
    return;
  }
  // The waiting ends with this packet. If it is an entry, the early pictures
  // with a higher count are shown after it, so they are late.
  late_.swap(early_);
  const std::optional<int> entry = start_.entry_count();
  std::erase_if(late_, [&](const LatePacket& other) {
    return !entry || other.count == INT_MIN || other.count < *entry;
  });
}

bool PacketInspector::Shows(const bulkhead_packet& packet) {
  const bool shows = shown_.Read(packet);
  if (codec_ != AV_CODEC_ID_H264) return shows && role_.has_picture;
  role_.second_field =
      role_.has_picture && parser_ != nullptr && IsSecondField();
  return role_.has_picture && !role_.second_field;
}

bool PacketInspector::IsKeyframe(const bulkhead_packet& packet) const {
  constexpr uint32_t kWanted = BULKHEAD_PACKET_KEYFRAME;
  constexpr uint32_t kOthers =
      BULKHEAD_PACKET_CORRUPT | BULKHEAD_PACKET_DISCARD;
  if ((packet.flags & (kWanted | kOthers)) != kWanted) return false;
  switch (codec_) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
      // The count is only known if the parser could read the headers.
      return parser_ != nullptr && parser_->key_frame == 1 &&
             parser_->output_picture_number != INT_MIN;
    case AV_CODEC_ID_VP8:
      return HasBytes(packet, 3, kVp8StartCode) &&
             (packet.data[0] & 0x11) == 0x10;
    case AV_CODEC_ID_VP9:
      // The first byte says: profile 0, keyframe, shown, not a superframe.
      return HasBytes(packet, 1, kVp9SyncCode) &&
             (packet.data[0] & 0xfe) == 0x82;
    default:
      return false;
  }
}

bool PacketInspector::IsSecondField() {
  const int structure = parser_->picture_structure;
  const bool field = structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                     structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD;
  const bool is_second = field && open_field_ != 0 && open_field_ != structure;
  open_field_ = field && !is_second ? structure : 0;
  return is_second;
}

// Compares timestamps with picture order counts. Within a coded sequence the
// counts give the order of the pictures. The next sequence, whose counts start
// again, comes after all pictures of this one.
void PacketInspector::CheckCount(int64_t pts) {
  const int count = parser_->output_picture_number;
  if (count == INT_MIN) {
    // A new sequence may begin here, with a damaged keyframe.
    recent_.clear();
    return;
  }
  const auto not_below = [count](const Picture& p) { return p.count >= count; };
  if (parser_->key_frame == 1 &&
      std::any_of(recent_.begin(), recent_.end(), not_below)) {
    recent_.clear();
    floor_ = latest_;
  }
  if (pts <= floor_) ordered_ = false;
  for (const Picture& other : recent_) {
    if ((other.count < count) != (other.pts < pts)) ordered_ = false;
  }
  if (recent_.size() == kRecentPictures) recent_.erase(recent_.begin());
  recent_.push_back({count, pts});
  latest_ = std::max(latest_, pts);
}

// Compares timestamps with picture types. A B-picture is shown before the
// latest picture of another type; a picture of another type is shown after all
// earlier pictures.
void PacketInspector::CheckType(int64_t pts) {
  switch (parser_->pict_type) {
    case AV_PICTURE_TYPE_B:
      if (pts >= latest_ || pts <= floor_) ordered_ = false;
      floor_ = std::max(floor_, pts);
      break;
    case AV_PICTURE_TYPE_I:
    case AV_PICTURE_TYPE_P:
    case AV_PICTURE_TYPE_S:
      if (pts <= latest_) ordered_ = false;
      floor_ = latest_;
      latest_ = std::max(latest_, pts);
      break;
    default:
      // A damaged packet may be a picture of any type.
      latest_ = std::max(latest_, pts);
      break;
  }
}

}  // namespace bulkhead::worker::damage
