// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace bulkhead::cli::metrics {

// The counts of one backend in all processes of one program.
struct MetricCounts {
  BackendCounts backend;
  uint64_t shadow_streams = 0;
  uint64_t shadow_failed = 0;
  uint64_t frames_same = 0;
  uint64_t frames_different = 0;
  uint64_t frames_not_compared = 0;
};

// The labels of the counts: the name of the program and of the backend.
using MetricLabels = std::pair<std::string, std::string>;

// Sums up the counts of all applications, by program and backend. The totals
// never fall, because they keep the last counts of ended processes. A sum over
// the running processes would fall whenever a process ends. Prometheus would
// then assume that the counter restarted from 0, and count the rest twice.
//
// Since::kStart is for a single reading: an application counts from its start.
// Since::kNow is for an exporter: an application that is older than this object
// counts from the moment at which it was first seen. A restarted exporter then
// begins at 0, and nothing counts twice.
//
// Any process of this user can claim to be a bulkheadd and report any counts.
// So labels are cut and cleaned, the number of series is bounded, and a count
// that falls adds nothing. Not thread-safe.
class MetricTotals {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Since { kStart, kNow };

  MetricTotals(Since since, Time now) : since_(since), began_(now) {}

  // Adds the increase of each application's counts since the last Add().
  void Add(const RunningHosts& running, Time now);

  const std::map<MetricLabels, MetricCounts>& all() const { return totals_; }

 private:
  struct SeenHost {
    Time born;                                   // When bulkheadd started.
    Time seen;                                   // When Add() last saw it.
    std::map<std::string, MetricCounts> counts;  // The latest, by backend.
  };

  // Returns the entry of `host`. Its counts are those of the last Add(), to
  // which Add() compares the new ones. Makes the entry if it is missing. If
  // there are too many, drops the entry that was not seen for the longest time.
  SeenHost& SeenBefore(const RunningHost& host, Time now);
  // Returns the sum with these labels. If there are too many sums, returns one
  // sum for all other labels.
  MetricCounts& Total(const std::string& application,
                      const std::string& backend);

  const Since since_;
  const Time began_;
  std::map<int, SeenHost> hosts_;  // by the pid of bulkheadd
  std::map<MetricLabels, MetricCounts> totals_;
};

// Returns the backends that a host reports, up to a limit, since a hostile
// process can report any number.
std::span<const RunningBackend> ReportedBackends(const RunningHost& host);
// Returns the name of an application for labels: the file name of its program,
// without directories and arguments.
std::string ApplicationOf(const RunningHost& host);
// Returns `text` as a label: cut to 64 bytes, with "_" in place of each byte
// that is no letter, digit, ".", "+", "-" or "_".
std::string LabelOf(const std::string& text);

}  // namespace bulkhead::cli::metrics
