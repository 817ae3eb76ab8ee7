// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "core/supervisor/blame/culprit.h"

namespace bulkhead::blame {

// The limit of a failure counter: `failures` failures within the time `within`
// are too many.
struct FailureLimit {
  uint32_t failures;
  std::chrono::milliseconds within;
};

struct RestartLimits {
  std::chrono::milliseconds first_backoff{100};
  double backoff_factor = 2;
  std::chrono::milliseconds longest_backoff{30'000};
  // The largest random extension of a backoff, as a fraction of it. Keeps
  // backends that failed together from starting together.
  double jitter = 0.25;
  // A backend that stays ready for this long without a failure is forgiven
  // everything.
  std::chrono::milliseconds healthy{60'000};
  FailureLimit backend{5, std::chrono::minutes(10)};
  FailureLimit device{5, std::chrono::minutes(10)};
  FailureLimit start{5, std::chrono::minutes(10)};
};

// Decides when a backend that failed may be started again, and when it is to be
// quarantined.
//
// The backoff after the n-th failure since the backend was last healthy is
//
//   min(first_backoff * backoff_factor^(n - 1), longest_backoff)
//
// with a random extension. Too many failures of the backend or of its start
// lead to quarantine. Too many failures of its device only lead to the longest
// backoff, since the files may work with another card or driver.
//
// Pure: reads neither a clock nor a random device; both are passed in. Times
// are monotonic, so nothing happens when the wall clock jumps, and a failure
// does not age while the machine is suspended. Not thread-safe.
class RestartPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Random = std::function<double()>;  // returns a number in [0, 1)
  enum class Verdict { kBackOff, kQuarantine };

  RestartPolicy(RestartLimits limits, Random random)
      : limits_(limits), random_(std::move(random)) {}

  // Counts a failure and begins a backoff. `culprit` is kBackend, kDevice or
  // kStart.
  Verdict Failed(Culprit culprit, Time now);
  // Begins a backoff without counting a failure, since the backend itself said
  // why it cannot be started, for instance because it lacks a library.
  void Declined(Time now);
  void BecameReady(Time now) { ready_since_ = now; }
  // Forgets all failures and ends the backoff.
  void Forget();

  bool backs_off(Time now) const { return now < retry_at_; }
  // Returns when the backoff ends; Time::min() if there was none.
  Time retry_at() const { return retry_at_; }
  // Returns how many failures of `culprit` lie in the period of the length
  // FailureLimit::within that ends with its last failure.
  uint32_t failures(Culprit culprit) const;

 private:
  struct Counter {
    std::deque<Time> failures;
    // Counts a failure; returns whether there are too many now.
    bool Count(const FailureLimit& limit, Time now);
  };

  // Forgets all earlier failures if the backend was ready for
  // RestartLimits::healthy before the failure at `now`.
  void ForgiveIfHealthy(Time now);
  void BackOff(Time now);
  const FailureLimit& LimitOf(Culprit culprit) const;
  // Returns the backoff with a random extension.
  std::chrono::nanoseconds Lengthened(double milliseconds);

  const RestartLimits limits_;
  const Random random_;
  std::array<Counter, 3> counters_;  // backend, device, start
  uint32_t failures_since_healthy_ = 0;
  Time retry_at_ = Time::min();
  // Time::max() if the backend has not been ready since its last failure.
  Time ready_since_ = Time::max();
};

}  // namespace bulkhead::blame
