// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Returns the error, kBackendMisbehaved, for a backend that breaks the C ABI.
// `deed` says in words what the backend did, `clause` is the id of the clause
// of bulkhead_backend.h that does not allow the deed, and `words` quotes the
// part of the clause that matters. The host adds the backend's name, the file
// and the frame.
ipc::Error BreachOf(const std::string& deed, const char* clause,
                    const char* words);

// Paces a call that is repeated because its result is not ready: sleeps between
// two attempts, longer each time, so that waiting takes no processor from the
// backend. Used by one thread.
class AgainPacer {
 public:
  // `limit` is the time after which a backend that makes no progress breaks the
  // ABI.
  explicit AgainPacer(std::chrono::milliseconds limit) : limit_(limit) {}

  // Begins anew, because the backend has made progress.
  void Progressed() { began_.reset(); }
  // Sleeps a moment. Returns false if the limit has passed since the first
  // call after progress.
  bool Wait();
  std::chrono::milliseconds limit() const { return limit_; }

 private:
  const std::chrono::milliseconds limit_;
  std::optional<std::chrono::steady_clock::time_point> began_;
  std::chrono::microseconds pause_{0};
};

// Finds a backend that gives all of its frames the same timestamp, though their
// packets have different ones. Such frames would look like a sound stream. Some
// equal timestamps are allowed:
//
// - the pictures of one packet. A damaged table of MP4 can make one packet of
//   many, and then they come before the packets that are sent next;
// - as many as the file itself repeats. In joined MXF, all packets of the
// second
//   file have one timestamp.
//
// Value type.
class EqualTimestamps {
 public:
  // Begins anew, after a seek.
  void Restart() { *this = EqualTimestamps(); }
  // Records a packet that shows a picture.
  void Sent(int64_t pts, uint64_t bytes);
  // Records the timestamp of a frame. Returns the error if there are too many
  // equal ones in a row.
  ipc::Expected<void> Shown(int64_t pts);
  // Returns the error if all frames of the pass had the same timestamp. Call
  // this at the end of a stream without damage.
  ipc::Expected<void> Ended() const;

 private:
  ipc::Error Breach() const;

  // Different timestamps of packets; no more than a judgement needs.
  std::vector<int64_t> sent_;
  int64_t last_sent_ = BULKHEAD_NO_TIMESTAMP;
  uint64_t repeated_ = 0;       // packets in a row with last_sent_
  uint64_t most_repeated_ = 0;  // the most of them so far
  int64_t shown_pts_ = BULKHEAD_NO_TIMESTAMP;
  uint64_t equal_ = 0;       // frames in a row with shown_pts_
  uint64_t sent_since_ = 0;  // packets since the first of these frames
  uint64_t most_bytes_ = 0;  // of one packet
  uint64_t frames_ = 0;
};

}  // namespace bulkhead::worker
