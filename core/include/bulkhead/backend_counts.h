// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bulkhead {

// How the worker of a session ended, as an operator counts it. More than one
// could be said of some ends; the first that holds is counted. What names a
// claim is the word of the process that ended.
enum class WorkerEnd : uint8_t {
  kDeadline,    // Killed by Bulkhead: a step took too long.
  kProtocol,    // Killed by Bulkhead: a message was not allowed, or the backend
                // broke bulkhead_backend.h.
  kDeviceLost,  // The backend reported that its device is lost; a claim.
  kFailed,      // The backend reported that it failed; a claim.
  kSandbox,     // Killed for a system call that the sandbox forbids.
  kMemory,      // At the limit of the backend's memory.
  kKilled,      // By a signal that another program sent, such as SIGKILL.
  kSignal,      // By another signal: it crashed.
  kExit,        // By exit().
  kUnknown,     // Nobody could learn how.
};
inline constexpr size_t kWorkerEnds = 10;

// Returns the name of an end, in the words of `bulkhead metrics`:
// "device_lost".
const char* WorkerEndName(WorkerEnd end);

// Counts durations by their size.
struct DurationCounts {
  // The upper bounds of all but the last count, inclusive.
  static constexpr std::array<std::chrono::microseconds, 12> kBounds = {
      std::chrono::milliseconds(2),     std::chrono::milliseconds(5),
      std::chrono::milliseconds(10),    std::chrono::milliseconds(25),
      std::chrono::milliseconds(50),    std::chrono::milliseconds(100),
      std::chrono::milliseconds(250),   std::chrono::milliseconds(500),
      std::chrono::milliseconds(1'000), std::chrono::milliseconds(2'500),
      std::chrono::milliseconds(5'000), std::chrono::milliseconds(10'000)};

  // The durations up to each bound and above the one before it.
  std::array<uint64_t, kBounds.size() + 1> counts{};
  std::chrono::microseconds sum{0};
};

// The counts that one bulkheadd has of one backend since bulkheadd started.
// They go on when the backend is restarted, reloaded or replaced by another
// version, and never fall. They end with bulkheadd, that is, with the Host.
struct BackendCounts {
  std::string backend;
  uint64_t starts = 0;  // Begun, whether or not they succeeded.
  uint64_t quarantines = 0;
  // Streams that got their first worker, on this backend or another that failed
  // before it had one for them.
  uint64_t streams = 0;
  // Delivered to the application, also by open streams. Of an
  // application that has more than 1024 streams open, the others are missing.
  uint64_t frames = 0;
  // The time for which sessions had a worker, open sessions included. A stream
  // that the application does not read is open all the same.
  std::chrono::milliseconds session_time{0};
  // The workers that ended while they had a session, by WorkerEnd. A worker
  // that served several sessions counts once.
  std::array<uint64_t, kWorkerEnds> worker_ends{};
  // The time from the report that a stream's worker ended until the stream had
  // another worker of this backend. Opening and seeking anew come after that.
  DurationCounts recoveries;
  // Inputs that killed so many workers at one position that they are refused
  // there.
  uint64_t poisoned_inputs = 0;
  // Streams that were refused without a worker, since their input kills workers
  // that open it.
  uint64_t refused_streams = 0;
  // The same as RunningBackend::failovers and failed_failovers.
  uint64_t failovers = 0;
  uint64_t failed_failovers = 0;

  uint64_t ends(WorkerEnd end) const {
    return worker_ends[static_cast<size_t>(end)];
  }
};

}  // namespace bulkhead
