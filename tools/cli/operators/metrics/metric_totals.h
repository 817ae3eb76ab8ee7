// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace bulkhead::cli {

// The counts of one backend in all processes of one program.
struct MetricCounts {
  BackendCounts backend;
  uint64_t shadow_streams = 0;
  uint64_t shadow_failed = 0;
  uint64_t frames_same = 0;
  uint64_t frames_different = 0;
  uint64_t frames_not_compared = 0;
};

// The labels of the counts: the program's name and the backend's.
using MetricLabels = std::pair<std::string, std::string>;

// Adds up the counts of applications. Prometheus takes a counter that falls for
// one that began anew at 0, and so would count what is left a second time. The
// counts of an application vanish with it, though. So totals are by program,
// not by process, and keep what an application had counted when it was last
// seen.
//
// Since::kStart is for one look: each application counts from its start.
// Since::kNow is for an exporter: an application that is older than this object
// counts from when it was first seen, so that an exporter that is restarted
// begins at 0 and nothing counts twice.
//
// The peers are bulkheadds of this user, which may be something else that
// pretends to be one. Labels are cut and cleaned, the number of series is
// bounded, and a count that falls adds nothing. Not thread-safe.
class MetricTotals {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Since { kStart, kNow };

  MetricTotals(Since since, Time now) : since_(since), began_(now) {}

  // Adds what was counted since the last look at each application.
  void Add(const RunningHosts& running, Time now);

  const std::map<MetricLabels, MetricCounts>& all() const { return totals_; }

 private:
  struct SeenHost {
    Time born;
    Time seen;
    std::map<std::string, MetricCounts> counts;  // by backend
  };

  SeenHost& SeenBefore(const RunningHost& host, Time now);
  MetricCounts& Total(const std::string& application,
                      const std::string& backend);

  const Since since_;
  const Time began_;
  std::map<int, SeenHost> hosts_;  // by the pid of bulkheadd
  std::map<MetricLabels, MetricCounts> totals_;
};

// Returns the backends of a host, of a peer that names very many the first.
std::span<const RunningBackend> ToldBackends(const RunningHost& host);
// Returns the name of an application for labels: its program's, without
// directories or arguments.
std::string ApplicationOf(const RunningHost& host);
// Returns `text` as a label: at most 64 letters, digits and ".+-_".
std::string LabelOf(const std::string& text);

}  // namespace bulkhead::cli
