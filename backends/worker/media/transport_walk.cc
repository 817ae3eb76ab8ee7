// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/transport_walk.h"

#include <set>
#include <utility>

#include "backends/worker/media/end_padding.h"

namespace bulkhead::worker {
namespace {

constexpr uint8_t kSync = 0x47;
constexpr size_t kPacketBytes = 188;
constexpr int64_t kCounters = 16;
constexpr int kNullPackets = 0x1fff;
constexpr int kProgramTable = 0;  // the pid of the programs' table
constexpr int kServiceTable = 17;

// The tables are repeated at least twice a second.
constexpr int64_t kMostBytesBehind = int64_t{1} << 18;
constexpr int kMostLooksBehind = 1000;  // in a file, which is hostile

int PidOf(std::span<const uint8_t> packet) {
  return (packet[1] & 0x1f) << 8 | packet[2];
}

// Returns whether the packet announces that its counter jumps.
bool IsMeant(std::span<const uint8_t> packet) {
  return (packet[3] & 0x20) != 0 && packet[4] > 0 && (packet[5] & 0x80) != 0;
}

// Returns whether the payload is the beginning of a PES packet. Tables have
// none.
bool BeginsPes(std::span<const uint8_t> packet) {
  const size_t at = (packet[3] & 0x20) != 0 ? size_t{5} + packet[4] : 4;
  return (packet[3] & 0x10) != 0 && at + 3 <= packet.size() &&
         packet[at] == 0 && packet[at + 1] == 0 && packet[at + 2] == 1;
}

// Muxers begin a file with a table, whose packets count from 0.
bool IsStartOfFile(std::span<const uint8_t> packet) {
  const int pid = PidOf(packet);
  return (pid == kProgramTable || pid == kServiceTable) &&
         (packet[1] & 0x40) != 0 && (packet[3] & 0x0f) == 0;
}

}  // namespace

void TransportWalk::LearnLayout(int64_t position) {
  // Packets of 188 bytes may have 4 or 16 more around them.
  for (const int64_t stride : {188, 192, 204}) {
    for (const int64_t offset : {0, 4}) {
      stride_ = stride;
      next_ = position + offset;
      if ((offset == 0 || stride == 192) && IsInStep(next_)) return;
    }
  }
  stride_ = 0;
  next_ = -1;
}

bool TransportWalk::IsInStep(int64_t offset) {
  const auto stride = static_cast<size_t>(stride_);
  const auto bytes = file_.At(offset, 2 * stride + kPacketBytes);
  // Fewer packets may follow at the end of the file.
  if (bytes.size() < kPacketBytes) return false;
  for (size_t at = 0; at + kPacketBytes <= bytes.size(); at += stride) {
    if (bytes[at] != kSync) return false;
  }
  return true;
}

bool TransportWalk::LostUntil(int64_t position) {
  // libavformat took the position from the file, so it may be any.
  if (position < 0 || position >= file_.size()) return false;
  if (next_ < 0 || stride_ == 0) {
    LearnLayout(position);
    if (next_ < 0) return false;
  }
  const bool lost =
      Walk(position + stride_ - static_cast<int64_t>(kPacketBytes));
  has_read_ = true;
  return lost;
}

bool TransportWalk::LostUntilFirst(int64_t position) {
  if (position < 0 || position >= file_.size()) return false;
  LearnLayout(position);
  if (next_ < 0) return false;
  const int64_t end = next_;
  next_ -= position;
  const int64_t limit = next_ + stride_;
  while (next_ < limit && !IsInStep(next_)) ++next_;
  const bool is_torn = next_ == limit;
  const bool lost = Walk(end);
  has_read_ = true;
  is_suspicious_ |= is_torn;
  return lost;
}

bool TransportWalk::DoubtsStart(int64_t position) {
  const bool lost = LostUntilFirst(position);
  const bool doubts = lost || is_suspicious_;
  Restart();
  return doubts;
}

bool TransportWalk::LostUntilEnd() {
  return next_ >= 0 && stride_ > 0 && Walk(file_.size());
}

bool TransportWalk::Walk(int64_t end) {
  bool lost = false;
  is_suspicious_ = false;
  const int64_t around = stride_ - static_cast<int64_t>(kPacketBytes);
  while (next_ <= end) {
    const auto packet = file_.At(next_, kPacketBytes);
    if (packet.empty()) return lost;
    const uint8_t first = packet[0];
    const bool is_whole = packet.size() == kPacketBytes;
    // No transport stream declares its end. The start of a packet is cut off
    // (declared_size.h).
    if (first != kSync && end == file_.size() && IsPadding(next_)) return lost;
    if (!is_whole) {
      if (first != kSync) DoubtOthers();
      return lost;
    }
    if (first == kSync) {
      if (Take(packet, next_ >= end - around) && !lost) {
        lost = true;
        broken_at_ = next_;
      }
      next_ += stride_;
      continue;
    }
    const int64_t broken = next_;
    DoubtOthers();
    do {
      ++next_;
    } while (next_ < end && !IsInStep(next_));
    // Behind so many bytes the counter may have its old value again.
    const bool far = next_ - broken >= kCounters * stride_;
    if (far) counter_.reset();
    if (!lost && (far || IsSpliced(broken))) {
      lost = true;
      broken_at_ = far ? broken : broken - stride_;
    }
  }
  return lost;
}

bool TransportWalk::IsPadding(int64_t offset) {
  if (!padding_start_) padding_start_ = PaddingStart(file_);
  return offset >= *padding_start_;
}

bool TransportWalk::IsSpliced(int64_t broken) {
  const auto before = file_.At(broken - stride_, kPacketBytes);
  if (before.size() < kPacketBytes || streams_[PidOf(before)]) return false;
  const auto behind = file_.At(next_, kPacketBytes);
  return behind.size() == kPacketBytes && !IsStartOfFile(behind);
}

bool TransportWalk::Take(std::span<const uint8_t> packet, bool is_wanted) {
  const int pid = PidOf(packet);
  const bool has_payload = (packet[3] & 0x10) != 0;
  const bool begins_unit = (packet[1] & 0x40) != 0;
  const bool is_meant = IsMeant(packet);
  const bool is_damaged = (packet[1] & 0x80) != 0;
  const uint8_t counter = packet[3] & 0x0f;
  is_suspicious_ |= is_damaged;
  if (has_payload && pid == kProgramTable) {
    begins_file_ = begins_unit && counter == 0;
  }
  if (pid != pid_) {
    if (begins_unit && BeginsPes(packet)) streams_.set(pid);
    if (!has_payload || pid == kNullPackets) return false;
    // The others would show the same loss later.
    if (IsGapInOther(packet)) DoubtOthers();
    others_[pid] = counter;
    return false;
  }
  if (!has_payload) {
    // Packets without a payload do not count, but can announce a jump.
    if (is_meant) counter_.reset();
    return false;
  }
  if (begins_unit) {
    is_suspicious_ |= !BeginsPes(packet) || (has_read_ && !is_wanted);
  }
  // A packet may come twice.
  const bool follows =
      !counter_ || counter == *counter_ || counter == ((*counter_ + 1) & 0x0f);
  const bool is_joined = std::exchange(begins_file_, false) && begins_unit &&
                         counter == 0 && !is_damaged;
  counter_ = counter;
  const bool lost = is_damaged || (!follows && !is_meant && !is_joined);
  if (lost || is_joined) others_.clear();
  return lost;
}

void TransportWalk::DoubtOthers() {
  is_suspicious_ = true;
  others_.clear();
}

bool TransportWalk::IsGapInOther(std::span<const uint8_t> packet) const {
  const auto known = others_.find(PidOf(packet));
  if (known == others_.end()) return false;
  const uint8_t counter = packet[3] & 0x0f;
  const bool begins_again = (packet[1] & 0x40) != 0 && counter == 0;
  return !IsMeant(packet) && !begins_again && counter != known->second &&
         counter != ((known->second + 1) & 0x0f);
}

bool TransportWalk::IsSuspiciousBehind() {
  if (next_ < 0 || stride_ == 0 || ++looks_behind_ > kMostLooksBehind) {
    return false;
  }
  std::set<int> seen;
  for (int64_t at = next_; at < next_ + kMostBytesBehind; at += stride_) {
    const auto packet = file_.At(at, kPacketBytes);
    if (packet.size() < kPacketBytes || packet[0] != kSync) break;
    const bool has_payload = (packet[3] & 0x10) != 0;
    if (!has_payload || PidOf(packet) == pid_) continue;
    if (seen.insert(PidOf(packet)).second && IsGapInOther(packet)) {
      others_.clear();
      return true;
    }
  }
  return false;
}

void TransportWalk::Restart() {
  next_ = -1;
  counter_.reset();
  begins_file_ = false;
}

}  // namespace bulkhead::worker
