// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bulkhead {

// The reason why the worker of a session ended, for counting. If several
// reasons apply to an end, the first in this order is counted. A reason marked
// as a claim was reported by the process that ended, which may lie.
enum class WorkerEnd : uint8_t {
  kDeadline,    // Killed by Bulkhead: a step took too long.
  kProtocol,    // Killed by Bulkhead: a message was not allowed, or the backend
                // broke bulkhead_backend.h.
  kDeviceLost,  // A claim: the backend reported that its device is lost.
  kFailed,      // A claim: the backend reported that it failed.
  kSandbox,     // Killed for a system call that the sandbox forbids.
  kMemory,      // Killed at the limit of the backend's memory.
  kKilled,      // Killed by another program's signal, such as SIGKILL.
  kSignal,      // Killed by any other signal: it crashed.
  kExit,        // Called exit().
  kUnknown,     // Nobody could learn the reason.
};
// The number of enumerators.
inline constexpr size_t kWorkerEnds = 10;

// Returns the name of an end, in the words of `bulkhead metrics`:
// "device_lost".
const char* WorkerEndName(WorkerEnd end);

// A histogram of durations.
struct DurationCounts {
  // The inclusive upper bounds of all counts except the last, which has no
  // upper bound.
  static constexpr std::array<std::chrono::microseconds, 12> kBounds = {
      std::chrono::milliseconds(2),     std::chrono::milliseconds(5),
      std::chrono::milliseconds(10),    std::chrono::milliseconds(25),
      std::chrono::milliseconds(50),    std::chrono::milliseconds(100),
      std::chrono::milliseconds(250),   std::chrono::milliseconds(500),
      std::chrono::milliseconds(1'000), std::chrono::milliseconds(2'500),
      std::chrono::milliseconds(5'000), std::chrono::milliseconds(10'000)};

  // counts[i]: the durations up to kBounds[i] and above kBounds[i - 1].
  std::array<uint64_t, kBounds.size() + 1> counts{};
  std::chrono::microseconds sum{0};
};

// The counts that one bulkheadd has of one backend since bulkheadd started.
// They continue when the backend is restarted, reloaded or replaced by another
// version, and never decrease. They end with bulkheadd, that is, with the Host.
struct BackendCounts {
  std::string backend;
  uint64_t starts = 0;  // Attempts, whether or not they succeeded.
  uint64_t quarantines = 0;
  // Streams that got their first worker from this backend. A stream that
  // on_failure moved to this backend counts too if the first device failed
  // before the stream had a worker.
  uint64_t streams = 0;
  // The frames delivered to the application, open streams included. Frames are
  // counted in at most 1024 open streams of an application; frames of further
  // streams are missing.
  uint64_t frames = 0;
  // The total time for which sessions had a worker, open sessions included. A
  // stream counts as long as it is open, even if the application does not read
  // from it.
  std::chrono::milliseconds session_time{0};
  // The workers that ended while they had a session, by WorkerEnd. A worker
  // that served several sessions counts once.
  std::array<uint64_t, kWorkerEnds> worker_ends{};
  // The time from the report that a stream's worker ended until the stream had
  // another worker of this backend. The time does not include opening the
  // stream anew and seeking in it, which come afterwards.
  DurationCounts recoveries;
  // Inputs that killed so many workers at one position that the input is
  // refused at this position.
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
