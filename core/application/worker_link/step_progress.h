// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace bulkhead::session {

// Decides whether the progress that a worker reports within a long step earns
// the step another deadline. Without it, a hostile worker could report the
// least progress again and again and would never be late.
//
//     StepProgress progress(kLeastPackets);
//     ...                                  // at each report
//     if (!progress.Advance(packets_untrusted)) return Misbehaved(...);
//     if (progress.EarnsDeadline()) deadline.emplace(link.Within(step));
//
// A deadline is earned by progress of at least `least` and of 1/kParts of all
// progress so far. So a step of even pace may take kParts deadlines and more,
// and the number of deadlines of any step grows only with the logarithm of its
// progress. Not thread-safe.
class StepProgress {
 public:
  static constexpr uint64_t kParts = 256;

  explicit StepProgress(uint64_t least) : least_(least) {}

  // Records that the step has come to `reached`. Returns false if that is no
  // progress: an honest worker does not say so.
  bool Advance(uint64_t reached) {
    if (reached <= reached_) return false;
    reached_ = reached;
    return true;
  }
  // Returns whether the progress since the last deadline was earned, or since
  // the beginning, earns another one.
  bool EarnsDeadline() {
    const uint64_t since = reached_ - earned_at_;
    if (since < std::max(least_, reached_ / kParts)) return false;
    earned_at_ = reached_;
    return true;
  }
  uint64_t reached() const { return reached_; }

 private:
  uint64_t least_;
  uint64_t reached_ = 0;
  uint64_t earned_at_ = 0;
};

}  // namespace bulkhead::session
