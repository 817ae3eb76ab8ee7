// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/metrics/metric_totals.h"

#include <algorithm>
#include <chrono>
#include <concepts>
#include <limits>
#include <span>
#include <string_view>

namespace bulkhead::cli::metrics {
namespace {

constexpr size_t kMaxLabelBytes = 64;
// The largest number of pairs of program and backend. No honest machine has as
// many; all further pairs are counted under the name kRest.
constexpr size_t kMaxLabels = 256;
// The largest number of backends that are read from one peer.
constexpr size_t kMaxBackends = 256;
constexpr char kRest[] = "other";
// The largest number of bulkheadds, running or ended, that are remembered.
constexpr size_t kMaxHosts = 4'096;
// The start time of a bulkheadd (`born`) is the time of its answer minus its
// uptime. An answer can be delayed by the two seconds of FindRunningHosts(). So
// if two start times of a pid differ by less than this, they are the same
// bulkheadd's.
constexpr std::chrono::seconds kSameBirth{5};
constexpr std::chrono::milliseconds kNoTime{0};
constexpr std::chrono::hours kLongestUptime{24 * 365 * 10};

constexpr uint64_t BackendCounts::*kBackendCounts[] = {
    &BackendCounts::starts,          &BackendCounts::quarantines,
    &BackendCounts::streams,         &BackendCounts::frames,
    &BackendCounts::poisoned_inputs, &BackendCounts::refused_streams,
    &BackendCounts::failovers,       &BackendCounts::failed_failovers};
constexpr uint64_t MetricCounts::*kShadowCounts[] = {
    &MetricCounts::shadow_streams, &MetricCounts::shadow_failed,
    &MetricCounts::frames_same, &MetricCounts::frames_different,
    &MetricCounts::frames_not_compared};

// Adds the growth of a count from `before` to `now` to `total`, up to the
// maximum of its type: a peer may report any number, and a total must not
// overflow and fall. No argument is negative.
template <std::integral Count>
void AddGrowth(Count before, Count now, Count& total) {
  if (now <= before) return;
  const Count most = std::numeric_limits<Count>::max() - total;
  total += std::min<Count>(now - before, most);
}

template <typename Unit>
void AddGrowth(std::chrono::duration<int64_t, Unit> before,
               std::chrono::duration<int64_t, Unit> now,
               std::chrono::duration<int64_t, Unit>& total) {
  int64_t count = total.count();
  AddGrowth(before.count(), now.count(), count);
  total = std::chrono::duration<int64_t, Unit>(count);
}

void AddGrowth(const MetricCounts& before, const MetricCounts& now,
               MetricCounts& total) {
  const BackendCounts& from = before.backend;
  const BackendCounts& to = now.backend;
  BackendCounts& sum = total.backend;
  for (const auto count : kBackendCounts) {
    AddGrowth(from.*count, to.*count, sum.*count);
  }
  AddGrowth(from.session_time, to.session_time, sum.session_time);
  for (size_t i = 0; i < sum.worker_ends.size(); ++i) {
    AddGrowth(from.worker_ends[i], to.worker_ends[i], sum.worker_ends[i]);
  }
  for (size_t i = 0; i < sum.recoveries.counts.size(); ++i) {
    AddGrowth(from.recoveries.counts[i], to.recoveries.counts[i],
              sum.recoveries.counts[i]);
  }
  AddGrowth(from.recoveries.sum, to.recoveries.sum, sum.recoveries.sum);
  for (const auto count : kShadowCounts) {
    AddGrowth(before.*count, now.*count, total.*count);
  }
}

// Returns the present counts of a host by the label of the backend.
std::map<std::string, MetricCounts> CountsOf(const RunningHost& host) {
  std::map<std::string, MetricCounts> counts;
  for (const BackendCounts& counted :
       std::span(host.counts)
           .first(std::min(host.counts.size(), kMaxBackends))) {
    counts[LabelOf(counted.backend)].backend = counted;
  }
  // While a backend is replaced, the draining one and its successor have the
  // same name and the same shadow report, which is assigned here, not added.
  for (const RunningBackend& backend : ReportedBackends(host)) {
    MetricCounts& out = counts[LabelOf(backend.name)];
    const ShadowReport& shadow = backend.shadow;
    out.shadow_streams = shadow.streams;
    out.shadow_failed = shadow.failed;
    out.frames_same =
        shadow.compared - std::min(shadow.compared, shadow.differing);
    out.frames_different = shadow.differing;
    out.frames_not_compared = shadow.not_compared;
  }
  return counts;
}

}  // namespace

std::span<const RunningBackend> ReportedBackends(const RunningHost& host) {
  return std::span(host.backends)
      .first(std::min(host.backends.size(), kMaxBackends));
}

std::string LabelOf(const std::string& text) {
  std::string label = text.substr(0, kMaxLabelBytes);
  for (char& c : label) {
    const bool kept =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
        (c >= 'a' && c <= 'z') ||
        std::string_view(".+-_").find(c) != std::string_view::npos;
    if (!kept) c = '_';
  }
  return label;
}

std::string ApplicationOf(const RunningHost& host) {
  const std::string program = host.command.substr(0, host.command.find(' '));
  const std::string name = program.substr(program.rfind('/') + 1);
  return name.empty() ? "unknown" : LabelOf(name);
}

MetricTotals::SeenHost& MetricTotals::SeenBefore(const RunningHost& host,
                                                 Time now) {
  const Time born = now - std::clamp<std::chrono::milliseconds>(
                              host.uptime, kNoTime, kLongestUptime);
  const auto found = hosts_.find(host.supervisor_pid);
  if (found != hosts_.end()) {
    SeenHost& seen = found->second;
    seen.seen = now;
    if (std::chrono::abs(seen.born - born) < kSameBirth) return seen;
    // The pid now belongs to another bulkheadd.
    hosts_.erase(found);
  }
  // Forgets the bulkheadd that was not seen for the longest time.
  if (hosts_.size() >= kMaxHosts) {
    hosts_.erase(std::min_element(hosts_.begin(), hosts_.end(),
                                  [](const auto& a, const auto& b) {
                                    return a.second.seen < b.second.seen;
                                  }));
  }
  SeenHost& seen = hosts_[host.supervisor_pid];
  seen = {.born = born, .seen = now, .counts = {}};
  // An application that is older than this object counts from now on.
  if (since_ == Since::kNow && born < began_) seen.counts = CountsOf(host);
  return seen;
}

MetricCounts& MetricTotals::Total(const std::string& application,
                                  const std::string& backend) {
  const MetricLabels labels(application, backend);
  if (totals_.size() >= kMaxLabels && !totals_.contains(labels)) {
    return totals_[{kRest, kRest}];
  }
  return totals_[labels];
}

void MetricTotals::Add(const RunningHosts& running, Time now) {
  for (const RunningHost& host : running.hosts) {
    SeenHost& seen = SeenBefore(host, now);
    auto counts = CountsOf(host);
    const std::string application = ApplicationOf(host);
    for (const auto& [backend, count] : counts) {
      AddGrowth(seen.counts[backend], count, Total(application, backend));
    }
    seen.counts = std::move(counts);
  }
}

}  // namespace bulkhead::cli::metrics
