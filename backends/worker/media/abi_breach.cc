// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/abi_breach.h"

#include <algorithm>
#include <thread>

namespace bulkhead::worker {
namespace {

using std::chrono::microseconds;

constexpr microseconds kFirstPause{200};
constexpr microseconds kLongestPause{10'000};
// More than the frames that one packet of VP9 can show (annex B of its
// specification).
constexpr uint64_t kMostEqual = 16;

}  // namespace

ipc::Error BreachOf(const std::string& deed, const char* clause,
                    const char* words) {
  return {ipc::Code::kBackendMisbehaved,
          deed + ", against its clause " + clause + ", \"" + words + "\""};
}

bool AgainPacer::Wait() {
  const auto now = std::chrono::steady_clock::now();
  if (!began_) {
    began_ = now;
    pause_ = kFirstPause;
  }
  if (now - *began_ >= limit_) return false;
  // The ABI has nothing to wait for: a backend cannot tell that it is ready
  // except by being asked.
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(2 * pause_, kLongestPause);
  return true;
}

void EqualTimestamps::Sent(int64_t pts) {
  repeated_ = pts == last_sent_ ? repeated_ + 1 : 1;
  last_sent_ = pts;
  most_repeated_ = std::max(most_repeated_, repeated_);
  if (pts == BULKHEAD_NO_TIMESTAMP || sent_.size() > kMostEqual) return;
  if (std::find(sent_.begin(), sent_.end(), pts) == sent_.end()) {
    sent_.push_back(pts);
  }
}

ipc::Expected<void> EqualTimestamps::Shown(int64_t pts) {
  ++frames_;
  if (pts == BULKHEAD_NO_TIMESTAMP || pts != shown_pts_) equal_ = 0;
  shown_pts_ = pts;
  ++equal_;
  return Judge(kMostEqual);
}

ipc::Expected<void> EqualTimestamps::Ended() const {
  return equal_ == frames_ ? Judge(1) : ipc::Expected<void>();
}

ipc::Expected<void> EqualTimestamps::Judge(uint64_t most) const {
  if (equal_ <= most || equal_ <= most_repeated_ ||
      sent_.size() < std::min(equal_, kMostEqual + 1) ||
      shown_pts_ == BULKHEAD_NO_TIMESTAMP) {
    return {};
  }
  return tl::unexpected(BreachOf(
      "receive_frame gave " + std::to_string(equal_) +
          " frames in a row the timestamp " + std::to_string(shown_pts_) +
          ", though their packets have different ones",
      "frame-6", "that of the frame's packet"));
}

}  // namespace bulkhead::worker
