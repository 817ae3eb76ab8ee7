// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/abi_breach.h"

#include <algorithm>
#include <thread>

namespace bulkhead::worker::decode {
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
  // The ABI has no event to wait for, so a backend can only be asked again.
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(2 * pause_, kLongestPause);
  return true;
}

void EqualTimestamps::Sent(int64_t pts, uint64_t bytes) {
  repeated_ = pts == last_sent_ ? repeated_ + 1 : 1;
  last_sent_ = pts;
  most_repeated_ = std::max(most_repeated_, repeated_);
  most_bytes_ = std::max(most_bytes_, bytes);
  ++sent_since_;
  if (pts == BULKHEAD_NO_TIMESTAMP || sent_.size() > kMostEqual) return;
  if (std::find(sent_.begin(), sent_.end(), pts) == sent_.end()) {
    sent_.push_back(pts);
  }
}

ipc::Expected<void> EqualTimestamps::Shown(int64_t pts) {
  ++frames_;
  if (pts == BULKHEAD_NO_TIMESTAMP || pts != shown_pts_) {
    equal_ = 0;
    sent_since_ = 0;
  }
  shown_pts_ = pts;
  ++equal_;
  // Allows a few equal timestamps, or as many as the file itself repeats. If
  // the file has few different ones, allows any number.
  if (pts == BULKHEAD_NO_TIMESTAMP || equal_ <= kMostEqual ||
      equal_ <= most_repeated_ || sent_.size() <= kMostEqual) {
    return {};
  }
  // Allows the pictures of one packet. They come while few other packets are
  // sent, and each takes at least one byte of the packet.
  if (sent_since_ <= kMostEqual && equal_ <= most_bytes_) return {};
  return tl::unexpected(Breach());
}

// Judges a pass with few frames, all of which Shown() allows. Such a pass is a
// breach if its packets have enough distinct timestamps and repeat none as
// often.
ipc::Expected<void> EqualTimestamps::Ended() const {
  if (shown_pts_ == BULKHEAD_NO_TIMESTAMP || equal_ != frames_ ||
      equal_ <= std::max<uint64_t>(most_repeated_, 1) ||
      sent_.size() < std::min(equal_, kMostEqual + 1)) {
    return {};
  }
  return tl::unexpected(Breach());
}

ipc::Error EqualTimestamps::Breach() const {
  return BreachOf("receive_frame gave " + std::to_string(equal_) +
                      " frames in a row the timestamp " +
                      std::to_string(shown_pts_) +
                      ", though their packets have different ones",
                  "frame-6", "that of the frame's packet");
}

}  // namespace bulkhead::worker::decode
