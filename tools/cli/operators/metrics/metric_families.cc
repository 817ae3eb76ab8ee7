// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/metrics/metric_families.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_type.h>

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace bulkhead::cli::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using Seconds = std::chrono::duration<double>;

constexpr const char* kStates[] = {"discovered", "starting",    "ready",
                                   "draining",   "backing-off", "quarantined",
                                   "disabled"};
const std::vector<std::string> kNoLabels;
constexpr const char* kTiers[] = {"full", "reduced", "unused"};

ClientMetric& AddSeries(Labels labels, MetricFamily& family) {
  ClientMetric& series = family.metric.emplace_back();
  series.label = std::move(labels);
  return series;
}

// Prometheus wants cumulative counts, where DurationCounts has one count for
// each interval between two bounds.
ClientMetric::Histogram HistogramOf(const DurationCounts& counts) {
  ClientMetric::Histogram out;
  for (size_t i = 0; i < counts.counts.size(); ++i) {
    out.sample_count += counts.counts[i];
    out.bucket.push_back(
        {.cumulative_count = out.sample_count,
         .upper_bound = i < DurationCounts::kBounds.size()
                            ? Seconds(DurationCounts::kBounds[i]).count()
                            : std::numeric_limits<double>::infinity()});
  }
  out.sample_sum = Seconds(counts.sum).count();
  return out;
}

// Builds the metric families, in the order in which they are exported.
class Families {
 public:
  explicit Families(const MetricTotals& totals) : totals_(totals) {}

  // Adds a counter with one series for each backend of each program.
  void Count(const std::string& name, const std::string& help,
             const std::function<double(const MetricCounts&)>& value) {
    MetricFamily& family = Add(name, help, MetricType::Counter);
    for (const auto& [labels, counts] : totals_.all()) {
      AddSeries(LabelsOf(labels), family).counter.value = value(counts);
    }
  }
  void Count(const std::string& name, const std::string& help,
             uint64_t BackendCounts::*member) {
    Count(name, help, [member](const MetricCounts& counts) {
      return static_cast<double>(counts.backend.*member);
    });
  }
  void CountEnds() {
    MetricFamily& family =
        Add("bulkhead_worker_ends_total",
            "Workers that ended while they had a stream, by cause. protocol: "
            "the backend broke the protocol; killed: by another program.",
            MetricType::Counter);
    for (const auto& [labels, counts] : totals_.all()) {
      for (size_t i = 0; i < kWorkerEnds; ++i) {
        const auto end = static_cast<WorkerEnd>(i);
        Labels with = LabelsOf(labels);
        with.push_back({"cause", WorkerEndName(end)});
        AddSeries(with, family).counter.value =
            static_cast<double>(counts.backend.ends(end));
      }
    }
  }
  void CountRecoveries() {
    MetricFamily& family =
        Add("bulkhead_recovery_seconds",
            "Time from the report that a stream's worker ended until the "
            "stream had another one. Seeking to its place comes after that.",
            MetricType::Histogram);
    for (const auto& [labels, counts] : totals_.all()) {
      AddSeries(LabelsOf(labels), family).histogram =
          HistogramOf(counts.backend.recoveries);
    }
  }
  void CountShadowedFrames() {
    MetricFamily& family =
        Add("bulkhead_shadow_frames_total",
            "Frames of the streams that were drawn for a comparison with "
            "another device, by what it came to.",
            MetricType::Counter);
    for (const auto& [labels, counts] : totals_.all()) {
      const std::pair<const char*, uint64_t> results[] = {
          {"same", counts.frames_same},
          {"different", counts.frames_different},
          {"not_compared", counts.frames_not_compared}};
      for (const auto& [result, frames] : results) {
        Labels with = LabelsOf(labels);
        with.push_back({"result", result});
        AddSeries(with, family).counter.value = static_cast<double>(frames);
      }
    }
  }
  MetricFamily& Add(const std::string& name, const std::string& help,
                    MetricType type) {
    MetricFamily& family = all_.emplace_back();
    family.name = name;
    family.help = help;
    family.type = type;
    return family;
  }
  // Adds a gauge with a series for each entry of `values`. The key of an entry
  // lists the values of the labels `names`, in the same order.
  void Gauge(const std::string& name, const std::string& help,
             const std::vector<std::string>& names,
             const std::map<std::vector<std::string>, double>& values) {
    MetricFamily& family = Add(name, help, MetricType::Gauge);
    for (const auto& [with, value] : values) {
      Labels labels;
      for (size_t i = 0; i < names.size(); ++i) {
        labels.push_back({names[i], with[i]});
      }
      AddSeries(std::move(labels), family).gauge.value = value;
    }
  }
  std::vector<MetricFamily> Take() { return std::move(all_); }

 private:
  static Labels LabelsOf(const MetricLabels& labels) {
    return {{"application", labels.first}, {"backend", labels.second}};
  }

  const MetricTotals& totals_;
  std::vector<MetricFamily> all_;
};

std::string TierOf(const RunningHost& host) {
  return host.tier == SandboxTier::kNone ? "unused"
                                         : SandboxTierName(host.tier);
}

void AddCounters(Families& families) {
  families.Count("bulkhead_streams_total", "Streams that got a first worker.",
                 &BackendCounts::streams);
  families.Count("bulkhead_frames_total",
                 "Frames and blocks of samples that applications received.",
                 &BackendCounts::frames);
  families.Count(
      "bulkhead_session_seconds_total",
      "Time for which streams had a worker, whether or not they were read.",
      [](const MetricCounts& counts) {
        return Seconds(counts.backend.session_time).count();
      });
  families.Count("bulkhead_backend_starts_total",
                 "Starts of a backend's process, failed ones included.",
                 &BackendCounts::starts);
  families.CountEnds();
  families.CountRecoveries();
  families.Count("bulkhead_quarantines_total",
                 "Backends that were quarantined after too many failures.",
                 &BackendCounts::quarantines);
  families.Count("bulkhead_poisoned_inputs_total",
                 "Inputs that killed so many workers at one place that they "
                 "are refused there.",
                 &BackendCounts::poisoned_inputs);
  families.Count("bulkhead_refused_streams_total",
                 "Streams that were refused without a worker, because of such "
                 "an input.",
                 &BackendCounts::refused_streams);
  families.Count("bulkhead_failovers_total",
                 "Streams that left a backend that failed for another device.",
                 &BackendCounts::failovers);
  families.Count("bulkhead_failed_failovers_total",
                 "Streams for which the other device failed as well.",
                 &BackendCounts::failed_failovers);
  families.Count("bulkhead_shadow_streams_total",
                 "Streams that were drawn for a comparison.",
                 [](const MetricCounts& counts) {
                   return static_cast<double>(counts.shadow_streams);
                 });
  families.CountShadowedFrames();
}

// Adds the present numbers. Each state and tier gets a series, even if it is 0,
// so that a series does not vanish between two scrapes.
void AddGauges(const RunningHosts& running, Families& families) {
  std::map<std::vector<std::string>, double> hosts, own_memory, written_off,
      states, memory, sessions;
  for (const RunningHost& host : running.hosts) {
    const std::string application = ApplicationOf(host);
    for (const char* tier : kTiers) hosts[{application, tier}] += 0;
    hosts[{application, TierOf(host)}] += 1;
    own_memory[{application}] += static_cast<double>(host.memory_bytes);
    written_off[{application}] += static_cast<double>(host.written_off.size());
    for (const RunningBackend& backend : ReportedBackends(host)) {
      const std::string name = LabelOf(backend.name);
      for (const char* state : kStates) states[{application, name, state}] += 0;
      // A state that is not in kStates, which only a hostile peer sends, is
      // ignored, so that it makes no new series.
      const auto state = states.find({application, name, backend.state});
      if (state != states.end()) state->second += 1;
      memory[{application, name}] += static_cast<double>(backend.memory_bytes);
      sessions[{application, name}] +=
          static_cast<double>(backend.sessions.size());
    }
  }
  families.Gauge("bulkhead_hosts",
                 "Hosts by the tier of their sandbox. unused: no backend was "
                 "needed yet.",
                 {"application", "tier"}, hosts);
  families.Gauge("bulkhead_backends", "Hosts by the state of the backend.",
                 {"application", "backend", "state"}, states);
  families.Gauge("bulkhead_open_sessions", "Streams that have a worker.",
                 {"application", "backend"}, sessions);
  families.Gauge("bulkhead_backend_memory_bytes",
                 "Resident memory of a backend's processes. A page that they "
                 "share counts for each.",
                 {"application", "backend"}, memory);
  families.Gauge("bulkhead_supervisor_memory_bytes",
                 "Resident memory of the bulkheadds.", {"application"},
                 own_memory);
  families.Gauge("bulkhead_written_off_workers",
                 "Workers that were killed and that the kernel has not ended.",
                 {"application"}, written_off);
  families.Gauge("bulkhead_silent_hosts",
                 "Hosts whose bulkheadd did not answer; what is told of them "
                 "is old or missing.",
                 {}, {{kNoLabels, static_cast<double>(running.silent.size())}});
}

}  // namespace

std::vector<MetricFamily> FamiliesOf(const Result<RunningHosts>& running,
                                     const MetricTotals& totals) {
  Families families(totals);
  families.Gauge("bulkhead_up",
                 "1 if the bulkheadds of this user could be looked for.", {},
                 {{kNoLabels, running ? 1.0 : 0.0}});
  AddCounters(families);
  if (running) AddGauges(*running, families);
  return families.Take();
}

}  // namespace bulkhead::cli::metrics
