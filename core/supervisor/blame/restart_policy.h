// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

namespace bulkhead::supervisor {

// Whose fault an end was. Each but the first has a counter and a limit of its
// own, so that a file that kills its worker takes nothing from the backend, and
// a card that fell off the bus nothing from either.
enum class Culprit : uint8_t {
  kNobody,   // a SIGKILL of others, the end of a zygote, of bulkheadd
  kInput,    // counted by position, in PoisonedInputs
  kBackend,  // it lied, hung or crashed without media, or on any media
  kDevice,   // it was lost, or crashed or hung while it was counted
  kStart,    // it crashed, hung or lied while it was started
};

// So many failures within so long a time are too many.
struct FailureLimit {
  uint32_t failures;
  std::chrono::milliseconds within;
};

struct RestartLimits {
  std::chrono::milliseconds first_backoff{100};
  double backoff_factor = 2;
  std::chrono::milliseconds longest_backoff{30'000};
  // Each backoff is up to this part longer, so that what failed together does
  // not start together.
  double jitter = 0.25;
  // Without a failure for so long, what was is forgotten.
  std::chrono::milliseconds healthy{60'000};
  FailureLimit backend{5, std::chrono::minutes(10)};
  FailureLimit device{5, std::chrono::minutes(10)};
  FailureLimit start{5, std::chrono::minutes(10)};
};

// When a backend that failed may be started again, and when never.
//
// A backoff grows geometrically with each failure of a row, which ends once the
// backend has been ready and without failure for a healthy time. Too many
// failures of the backend or of its start quarantine it. Too many of its device
// only make the wait the longest: to another card or driver the files make no
// difference.
//
// Pure: knows neither clock nor chance but what it is given; times are
// monotonic, so that nothing happens when the wall clock jumps, and a suspended
// machine does not age a failure. Not thread-safe.
class RestartPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Random = std::function<double()>;  // from 0 to below 1
  enum class Verdict { kBackOff, kQuarantine };

  RestartPolicy(RestartLimits limits, Random random)
      : limits_(limits), random_(std::move(random)) {}

  // kNobody and kInput do not come here.
  Verdict Failed(Culprit culprit, Time now);
  // It said why it cannot be started, for instance for lack of a library. That
  // is to be tried again more and more seldom, but nothing to punish.
  void Declined(Time now);
  void BecameReady(Time now) { ready_since_ = now; }
  void Forget();

  bool backs_off(Time now) const { return now < retry_at_; }
  Time retry_at() const { return retry_at_; }
  // Of that counter, in its window at the time of its last failure.
  uint32_t failures(Culprit culprit) const;

 private:
  struct Counter {
    std::deque<Time> failures;
    // True: there are too many of them now.
    bool Count(const FailureLimit& limit, Time now);
  };

  void ForgiveIfHealthy(Time now);
  void BackOff(Time now);
  const FailureLimit& LimitOf(Culprit culprit) const;
  std::chrono::nanoseconds Lengthened(double milliseconds);

  const RestartLimits limits_;
  const Random random_;
  std::array<Counter, 3> counters_;  // backend, device, start
  uint32_t row_ = 0;                 // failures since it was healthy
  Time retry_at_ = Time::min();
  Time ready_since_ = Time::max();  // max: it has not been since it failed
};

}  // namespace bulkhead::supervisor
