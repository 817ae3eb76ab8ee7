// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/restart_policy.h"

#include <algorithm>
#include <cmath>

namespace bulkhead::blame {
namespace {

// Returns the place among the counters: the enumerators kBackend, kDevice and
// kStart follow each other.
size_t IndexOf(Culprit culprit) {
  return static_cast<size_t>(culprit) - static_cast<size_t>(Culprit::kBackend);
}

}  // namespace

bool RestartPolicy::Counter::Count(const FailureLimit& limit, Time now) {
  while (!failures.empty() && failures.front() + limit.within <= now) {
    failures.pop_front();
  }
  failures.push_back(now);
  if (failures.size() > limit.failures) failures.pop_front();
  return failures.size() >= limit.failures;
}

RestartPolicy::Verdict RestartPolicy::Failed(Culprit culprit, Time now) {
  ForgiveIfHealthy(now);
  const bool too_many =
      counters_[IndexOf(culprit)].Count(LimitOf(culprit), now);
  BackOff(now);
  if (!too_many) return Verdict::kBackOff;
  if (culprit != Culprit::kDevice) return Verdict::kQuarantine;
  retry_at_ = now + Lengthened(limits_.longest_backoff.count());
  return Verdict::kBackOff;
}

void RestartPolicy::Declined(Time now) {
  ForgiveIfHealthy(now);
  BackOff(now);
}

void RestartPolicy::Forget() {
  for (Counter& counter : counters_) counter.failures.clear();
  failures_since_healthy_ = 0;
  retry_at_ = Time::min();
  ready_since_ = Time::max();
}

uint32_t RestartPolicy::failures(Culprit culprit) const {
  return static_cast<uint32_t>(counters_[IndexOf(culprit)].failures.size());
}

void RestartPolicy::ForgiveIfHealthy(Time now) {
  if (ready_since_ <= now && now - ready_since_ >= limits_.healthy) Forget();
  ready_since_ = Time::max();
}

void RestartPolicy::BackOff(Time now) {
  const double grown =
      limits_.first_backoff.count() *
      std::pow(limits_.backoff_factor, failures_since_healthy_++);
  retry_at_ = now + Lengthened(std::min<double>(
                        grown, limits_.longest_backoff.count()));
}

std::chrono::nanoseconds RestartPolicy::Lengthened(double milliseconds) {
  const double lengthened = milliseconds * (1 + limits_.jitter * random_());
  return std::chrono::nanoseconds(static_cast<int64_t>(lengthened * 1e6));
}

const FailureLimit& RestartPolicy::LimitOf(Culprit culprit) const {
  switch (culprit) {
    case Culprit::kDevice:
      return limits_.device;
    case Culprit::kStart:
      return limits_.start;
    default:
      return limits_.backend;
  }
}

}  // namespace bulkhead::blame
