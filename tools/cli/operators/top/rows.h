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

// Types and pure functions that turn a reading (the state of all applications
// at one time) into the rows of `bulkhead top`. There is a row for each
// application (also if it does not answer), backend and session, and for each
// worker that was killed but has not ended. The rows with the worst trouble
// come first. Rows with the same trouble are in the order of the reading: an
// application, its backends, the sessions of each. Trouble has the exceptions.
//
// The texts of a row come from other processes. They are cleaned and cut when
// they are shown (fit.h).

// The trouble of a row, in the order of severity; the worst comes first.
enum class Trouble : uint8_t {
  kQuarantined,  // The backend failed too often and is not started.
  kBackingOff,   // The backend failed: it waits, or is started again.
  kLost,         // The backend's process is gone; the next request starts one.
  kWrittenOff,   // The worker was killed, but has not ended (a kernel wait).
  kSilent,       // The application does not answer.
  kWaiting,      // A call has waited for two seconds, or there is no worker.
                 // Rows with longer waits come first.
  kNoted,        // Disabled by an operator, or a reload was rolled back.
  kRestarted,    // Workers were lost; rows with more lost workers come first.
  kSlow,         // A session is slower than half of its device's median rate.
                 // The slowest comes first.
  kNone,
};

// The identity of a row's subject, the same in each reading.
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
  int supervisor_pid = 0;  // The application's bulkheadd.
  std::string name;        // The backend, or why an application is silent.
  uint64_t number = 0;     // The session or the pid of the worker.

  auto operator<=>(const RowKey&) const = default;
};

struct Row {
  RowKey key;
  Trouble trouble = Trouble::kNone;
  std::string state;                        // "quarantined", "ready", "idle"
  std::string what;                         // "acme", "acme:0 #3", "player"
  std::optional<double> frames_per_second;  // The sum of the row's sessions.
  // The rate of a session divided by the highest rate of all sessions.
  std::optional<double> bar;
  uint32_t restarts = 0;
  // How long a call of the application has waited, for Trouble::kWaiting.
  std::chrono::seconds waiting{0};
  // The cause of the last failure. If there was no failure, the input of a
  // session, or the command line of an application.
  std::string cause;
  std::string detail;  // All that is known, in one or two sentences.
};

// Sums over a whole reading.
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

// Returns the sorted rows and the totals of the reading `running`.
Table TableOf(const RunningHosts& running, const Causes& causes);

// Returns "quarantined", "written off" and so on; "" for kNone. Static storage.
const char* TroubleName(Trouble trouble);

// Returns "2 applications, 3 backends, 200 sessions, 4812.3 frames/s".
std::string Describe(const Totals& totals);
// Returns "1 quarantined, 3 waiting", or "nothing is wrong".
std::string DescribeTroubles(const Totals& totals);

}  // namespace bulkhead::cli::top
