// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/transport_walk.h"

#include <utility>

namespace bulkhead::worker {
namespace {

constexpr uint8_t kSync = 0x47;
constexpr size_t kPacketBytes = 188;
constexpr int64_t kCounters = 16;
constexpr int kProgramTable = 0;  // the pid of the programs' table

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
  return Walk(position + stride_ - static_cast<int64_t>(kPacketBytes));
}

bool TransportWalk::LostUntilEnd() {
  return next_ >= 0 && stride_ > 0 && Walk(file_.size());
}

bool TransportWalk::Walk(int64_t end) {
  bool lost = false;
  while (next_ <= end) {
    const auto packet = file_.At(next_, kPacketBytes);
    if (packet.size() < kPacketBytes) return lost;
    if (packet[0] == kSync) {
      if (Take(packet) && !lost) {
        lost = true;
        broken_at_ = next_;
      }
      next_ += stride_;
      continue;
    }
    const int64_t broken = next_;
    do {
      ++next_;
    } while (next_ < end && !IsInStep(next_));
    // Behind so many bytes the counter may have its old value again.
    if (next_ - broken >= kCounters * stride_) counter_.reset();
    if (next_ - broken >= kCounters * stride_ && !lost) {
      lost = true;
      broken_at_ = broken;
    }
  }
  return lost;
}

bool TransportWalk::Take(std::span<const uint8_t> packet) {
  const int pid = (packet[1] & 0x1f) << 8 | packet[2];
  const bool has_payload = (packet[3] & 0x10) != 0;
  const bool begins_unit = (packet[1] & 0x40) != 0;
  if (has_payload && pid == kProgramTable) {
    begins_file_ = begins_unit && (packet[3] & 0x0f) == 0;
  }
  if (pid != pid_) return false;
  const bool is_meant =
      (packet[3] & 0x20) != 0 && packet[4] > 0 && (packet[5] & 0x80) != 0;
  if (!has_payload) {
    // Packets without a payload do not count, but can announce a jump.
    if (is_meant) counter_.reset();
    return false;
  }
  const bool is_damaged = (packet[1] & 0x80) != 0;
  const uint8_t counter = packet[3] & 0x0f;
  // A packet may come twice.
  const bool follows =
      !counter_ || counter == *counter_ || counter == ((*counter_ + 1) & 0x0f);
  const bool is_joined = std::exchange(begins_file_, false) && begins_unit &&
                         counter == 0 && !is_damaged;
  counter_ = counter;
  return is_damaged || (!follows && !is_meant && !is_joined);
}

void TransportWalk::Restart() {
  next_ = -1;
  counter_.reset();
  begins_file_ = false;
}

}  // namespace bulkhead::worker
