// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker::decode {

// Returns the error, kBackendMisbehaved, for a backend that breaks the C ABI.
// `deed` says in words what the backend did, `clause` is the id of the clause
// of bulkhead_backend.h that forbids the deed, and `words` quotes the part of
// the clause that matters. The host adds the backend's name, the file and the
// frame.
ipc::Error BreachOf(const std::string& deed, const char* clause,
                    const char* words);

// Paces calls that are repeated while a backend returns AGAIN: sleeps between
// two attempts, longer each time, so that waiting takes no processor from the
// backend. Used by one thread.
class AgainPacer {
 public:
  // `limit` is the time after which a backend that makes no progress breaks the
  // ABI.
  explicit AgainPacer(std::chrono::milliseconds limit) : limit_(limit) {}

  // Starts the time limit anew, because the backend has made progress.
  void Progressed() { began_.reset(); }
  // Sleeps a moment. Returns false, without sleeping, once `limit` has passed
  // since the first Wait() after the last progress.
  bool Wait();
  std::chrono::milliseconds limit() const { return limit_; }

 private:
  const std::chrono::milliseconds limit_;
  std::optional<std::chrono::steady_clock::time_point> began_;
  std::chrono::microseconds pause_{0};
};

// Finds a backend that gives its frames the same timestamp, though the frames'
// packets have different timestamps. To the host, such a stream would look
// intact. Frames may have equal timestamps in two cases:
//
// - They are the pictures of one packet, and come before the next packets are
//   sent. A damaged table of MP4 can join many packets to one.
// - The file itself repeats the timestamp in as many packets. In joined MXF
//   files, all packets of the second file have one timestamp.
//
// A value type.
class EqualTimestamps {
 public:
  // Forgets everything, after a seek.
  void Restart() { *this = EqualTimestamps(); }
  // Records a packet of `bytes` bytes that shows a picture.
  void Sent(int64_t pts, uint64_t bytes);
  // Records the timestamp of a frame. Fails if too many frames in a row had the
  // same timestamp.
  ipc::Expected<void> Shown(int64_t pts);
  // Fails if all frames of the pass had the same timestamp. Call this at the
  // end of a stream without damage.
  ipc::Expected<void> Ended() const;

 private:
  ipc::Error Breach() const;

  // The first distinct timestamps of packets, as many as the checks need.
  std::vector<int64_t> sent_;
  int64_t last_sent_ = BULKHEAD_NO_TIMESTAMP;
  uint64_t repeated_ = 0;       // packets in a row with last_sent_
  uint64_t most_repeated_ = 0;  // the largest repeated_ so far
  int64_t shown_pts_ = BULKHEAD_NO_TIMESTAMP;
  uint64_t equal_ = 0;       // frames in a row with shown_pts_
  uint64_t sent_since_ = 0;  // packets since the first of these frames
  uint64_t most_bytes_ = 0;  // the size of the largest packet
  uint64_t frames_ = 0;
};

}  // namespace bulkhead::worker::decode
