// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/operators/top/causes.h"

namespace bulkhead::cli::top {

// The functions and types below say what `bulkhead top` shows of a reading: one
// row for each application, backend, session and written-off worker, and for
// each application that does not answer, with the worst first. Rows of the same
// trouble, and those without any, are in the order of `ps`: an application, its
// backends, the sessions of each.
//
// The functions are pure. The texts of a row come from other processes and
// are cleaned and cut where they are shown (fit.h).

// Says what is wrong with a row. The worst comes first.
enum class Trouble : uint8_t {
  kQuarantined,  // The backend failed too often and is not started.
  kBackingOff,   // The backend failed: it waits, or is started again.
  kLost,         // Its process is gone; the next request starts another.
  kWrittenOff,   // The worker was killed and the kernel holds it.
  kSilent,       // The application does not answer.
  kWaiting,      // A call has waited for two seconds, or there is no worker.
  kNoted,        // Disabled by an operator, or a reload was rolled back.
  kRestarted,    // Workers were lost; the more, the worse.
  kSlow,         // Less than half of the median of the sessions of its device.
  kNone,
};

// Identifies what a row shows from one reading to the next.
struct RowKey {
  enum class Kind : uint8_t {
    kApplication,
    kBackend,
    kSession,
    kWrittenOff,
    kSilent,
  };

  Kind kind = Kind::kApplication;
  int pid = 0;             // The application; 0 if unknown.
  int supervisor_pid = 0;  // Its bulkheadd.
  std::string name;        // The backend, or why an application is silent.
  uint64_t number = 0;     // The session or the pid of the worker.

  auto operator<=>(const RowKey&) const = default;
};

struct Row {
  RowKey key;
  Trouble trouble = Trouble::kNone;
  std::string state;                        // "quarantined", "ready", "idle"
  std::string what;                         // "acme", "acme:0 #3", "player"
  std::optional<double> frames_per_second;  // Of all sessions of the row.
  std::optional<double> bar;  // Of a session: its part of the highest rate.
  uint32_t restarts = 0;
  std::chrono::seconds waiting{0};  // Of a session with Trouble::kWaiting.
  // The last cause or, without one, what it works on: an input, a command line.
  std::string cause;
  std::string detail;  // All that is known, in a sentence or two.
};

// The reading as a whole.
struct Totals {
  size_t applications = 0;
  size_t backends = 0;
  size_t sessions = 0;
  double frames_per_second = 0;
  std::map<Trouble, size_t> troubles;  // Without kNone.
};

struct Table {
  std::vector<Row> rows;
  Totals totals;
};

Table TableOf(const RunningHosts& running, const Causes& causes);

// Returns "quarantined", "written off" and so on; "" for kNone. Static storage.
const char* TroubleName(Trouble trouble);

// Returns "2 applications, 3 backends, 200 sessions, 4812.3 frames/s".
std::string Describe(const Totals& totals);
// Returns "1 quarantined, 3 waiting", or "nothing is wrong".
std::string DescribeTroubles(const Totals& totals);

}  // namespace bulkhead::cli::top
