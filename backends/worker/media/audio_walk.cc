// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_walk.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bulkhead::worker {
namespace {

constexpr int64_t kChunkHeaderBytes = 8;
constexpr size_t kTagHeaderBytes = 11;
constexpr int64_t kMostTicksLost = int64_t{1} << 40;

// Returns whether libavformat makes the packets of some blocks of Matroska from
// all of them, once it has read the last.
bool IsInterleaved(std::string_view codec) {
  return codec == "cook" || codec == "sipr" || codec == "atrac3" ||
         codec == "ra_288";
}

}  // namespace

AudioWalk::AudioWalk(const Demuxer& demuxer)
    : file_(demuxer.bytes(), demuxer.size()),
      declared_(demuxer.declared_size()),
      stream_(demuxer.facts().stream_index),
      is_shorter_(declared_ > demuxer.size()),
      alone_(demuxer.facts().stream_count == 1),
      duration_(demuxer.facts().duration) {
  const StreamFacts& facts = demuxer.facts();
  if (facts.container == "matroska,webm") {
    walk_ = MatroskaWalk(file_, !IsInterleaved(facts.codec));
  } else if (facts.container == "avi") {
    walk_ = AviWalk(file_, declared_);
  } else if (facts.container == "flv") {
    walk_ = FlvWalk(file_, /*is_sound=*/true, declared_);
  } else if (auto asf = facts.container == "asf"
                            ? AsfWalk::Open(file_, facts.stream_id)
                            : std::nullopt) {
    walk_ = *std::move(asf);
  } else if (facts.container == "mpegts") {
    walk_ = TransportWalk(file_, facts.stream_id);
    is_shorter_ = false;
  } else if (const auto fragments =
                 facts.container == "mov,mp4,m4a,3gp,3g2,mj2"
                     ? FragmentWalk::Open(file_, facts.stream_id)
                     : nullptr) {
    walk_ = *fragments;
    is_shorter_ = false;
  }
}

ContainerWalk* AudioWalk::walk() const {
  return std::visit(
      [](auto& walk) -> ContainerWalk* {
        if constexpr (std::is_same_v<decltype(walk), std::monostate&>) {
          return nullptr;
        } else {
          return &walk;
        }
      },
      walk_);
}

bool AudioWalk::LostBefore(const bulkhead_packet& packet) {
  const bool is_new = packet.position >= 0 && packet.position != position_;
  if (auto* const transport = std::get_if<TransportWalk>(&walk_)) {
    return LostInTransport(*transport, packet);
  }
  const bool is_lost = walk()->LostUntil(packet.position);
  ++packets_;
  if (!is_new) return false;
  // Of a file that is too short, any gap in the timestamps may be what it
  // lacks. The time at which its sound begins is no gap.
  bool lost = is_lost || (is_shorter_ && first_position_ >= 0);
  if (std::holds_alternative<AviWalk>(walk_)) {
    lost = LostBeforeChunk(packet, is_lost);
  } else if (std::holds_alternative<FlvWalk>(walk_)) {
    ReadTime(packet, is_lost);
  }
  if (first_position_ < 0) first_position_ = packet.position;
  if (position_ >= 0 && !is_lost) {
    most_between_ = std::max(most_between_, packet.position - position_);
  }
  position_ = packet.position;
  last_pts_ = packet.pts;
  return lost;
}

bool AudioWalk::LostInTransport(TransportWalk& walk,
                                const bulkhead_packet& packet) {
  // Packets that libavformat has taken apart have the same position.
  if (packet.position < 0 || packet.position == position_) {
    return packet.position >= 0 && was_lost_;
  }
  const bool is_first = std::exchange(position_, packet.position) < 0;
  bool lost;
  if (is_first) {
    lost = walk.LostUntilFirst(packet.position);
    return alone_ && (lost || walk.is_suspicious());
  }
  lost = walk.LostUntil(packet.position);
  lost |= walk.is_suspicious();
  return std::exchange(was_lost_, lost) || lost;
}

void AudioWalk::ReadTime(const bulkhead_packet& packet, bool is_lost) {
  const auto tag = file_.At(packet.position, kTagHeaderBytes);
  delay_ = 0;
  if (packet.pts == BULKHEAD_NO_TIMESTAMP || tag.size() < kTagHeaderBytes) {
    return;
  }
  const int64_t time = int64_t{tag[7]} << 24 | int64_t{tag[4]} << 16 |
                       int64_t{tag[5]} << 8 | int64_t{tag[6]};
  int64_t offset;
  if (__builtin_sub_overflow(packet.pts, time, &offset)) return;
  // libavformat may have taken it from elsewhere while it looked for the tag.
  if (is_lost) {
    if (__builtin_sub_overflow(offset_, offset, &delay_)) delay_ = 0;
  } else {
    offset_ = offset;
  }
}

void AudioWalk::ReadIndex(const bulkhead_packet& packet) {
  has_read_index_ = true;
  index_ = AviIndex::Read(file_, declared_, stream_);
  const bool is_first = position_ < 0;
  if (!index_ || (is_first && is_behind_loss_)) return;
  // libavformat may count in other units.
  const int64_t known = is_first ? packet.position : position_;
  const auto time =
      index_->TimeOf(file_, known - kChunkHeaderBytes, /*is_lost=*/false);
  if (time != (is_first ? packet.pts : last_pts_)) index_.reset();
}

bool AudioWalk::LostBeforeChunk(const bulkhead_packet& packet, bool is_lost) {
  is_guessed_ = false;
  is_behind_loss_ |= is_lost;
  if (!is_behind_loss_ && declared_ == file_.size()) return false;
  if (packet.pts == BULKHEAD_NO_TIMESTAMP) return false;
  if (!has_read_index_) ReadIndex(packet);
  if (!index_) {
    if (std::exchange(is_behind_loss_, false)) GuessDelay(packet);
    has_guessed_ |= is_lost;
    return is_lost;
  }
  const auto time = index_->TimeOf(file_, packet.position - kChunkHeaderBytes,
                                   is_behind_loss_);
  // Within damage, bytes may look like a chunk.
  if (!time) return is_behind_loss_;
  is_guessed_ = !index_->is_exact();
  is_behind_loss_ = false;
  int64_t delay;
  if (__builtin_sub_overflow(*time, packet.pts, &delay)) return is_lost;
  const int64_t before = std::exchange(delay_, delay);
  return is_lost || delay_ > before;
}

void AudioWalk::GuessDelay(const bulkhead_packet& packet) {
  is_guessed_ = true;
  // Bytes that nobody can read, and those that the file does not have.
  const int64_t bytes = std::max<int64_t>(packet.position - lost_from(), 0) +
                        (is_shorter_ ? declared_ - file_.size() : 0);
  is_shorter_ = false;
  const int64_t span = position_ - first_position_;
  __int128 ticks = 0;
  if (packets_ > 2 && span > 0) {
    const int64_t each = std::clamp<int64_t>(packet.duration, 1, 1 << 20);
    ticks = (__int128{bytes} * (packets_ - 2) + span / 2) / span * each;
  } else if (duration_ > 0) {
    ticks = (__int128{bytes} * duration_ + file_.size() / 2) / file_.size();
  }
  delay_ =
      static_cast<int64_t>(std::min<__int128>(delay_ + ticks, kMostTicksLost));
}

bool AudioWalk::ShowsLossBehind() {
  auto* const transport = std::get_if<TransportWalk>(&walk_);
  return transport != nullptr && transport->IsSuspiciousBehind();
}

bool AudioWalk::LostAtEnd() {
  const bool is_lost = walk()->LostUntilEnd();
  if (auto* const transport = std::get_if<TransportWalk>(&walk_)) {
    return alone_ && position_ >= 0 &&
           (is_lost || transport->is_suspicious() || was_lost_);
  }
  if (is_fragmented()) return is_lost;
  // The header of AVI has the length of each stream.
  const bool has_own_length = std::holds_alternative<AviWalk>(walk_);
  if (is_behind_loss_ || has_guessed_ || index_) return true;
  if (alone_ || has_own_length) return is_lost || is_shorter_;
  return is_lost && lost_from() - position_ <= 2 * most_between_;
}

uint64_t AudioWalk::lost_packets() const {
  return is_fragmented() ? walk()->lost_packets() : 0;
}

int64_t AudioWalk::torn_bytes() const {
  const auto* const matroska = std::get_if<MatroskaWalk>(&walk_);
  return matroska == nullptr || !alone_
             ? 0
             : std::max<int64_t>(matroska->declared_end() - file_.size(), 0);
}

bool AudioWalk::has_sure_time() {
  auto* const matroska = std::get_if<MatroskaWalk>(&walk_);
  return matroska != nullptr ? matroska->BeginsCluster(position_)
                             : !is_guessed_;
}

std::optional<int64_t> AudioWalk::listed_end() const {
  return index_ ? std::make_optional(index_->end()) : std::nullopt;
}

}  // namespace bulkhead::worker
