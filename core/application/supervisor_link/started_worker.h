// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/application/supervisor_link/end_board.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor_link {

// The request of a session for a worker, as bulkheadd gets it.
struct SessionRequest {
  std::string device;
  bool audio;              // true: audio; false: video
  bool alone;              // the worker may serve no other session
  std::string input;       // InputKey() of the input and the options
  std::string path;        // the name of the input, for people
  uint32_t counter;        // SessionCounting::Lease::place()
  uint64_t worker_bytes;   // Limits::worker_bytes
  uint64_t session_bytes;  // Limits::session_bytes
  // The descriptors of the memory and the media for the worker, as
  // WorkerChannel::descriptors() returns them.
  std::vector<int> memory = {};
  bool served = false;  // the last descriptor is a window to the media
  // The number of the earlier session, whose worker died and which this session
  // continues. 0 if there is none, or if that session had delivered nothing.
  // bulkheadd prefers the version of the backend that the earlier session used.
  uint64_t continues = 0;
  // The generation of the bulkheadd that numbered the earlier session.
  uint64_t continues_generation = 0;
  // Decides whether a backend is started for this input. Called only if the
  // backend does not run and declares which media it decodes. `describer` is
  // the name of another device, whose worker can describe the input. If `vet`
  // returns an error, the backend is not started and the session fails with
  // that error. If `vet` is empty, the backend is always started.
  std::function<Status(const std::string& describer)> vet = {};
};

// The worker that bulkheadd found or started for a session.
struct StartedWorker {
  uint64_t session = 0;  // the number that bulkheadd gave the session
  std::string backend;
  std::string device;
  uint32_t device_ordinal = 0;  // number of the device within the backend
  pid_t pid = 0;                // in the application's pid namespace
  bool shared = false;          // the worker may serve other sessions too
  EndBoard::Place end;          // the word that shows the worker's end
  // OK if the worker got its memory and the media; an error with the reason if
  // not. The error code says in which state the worker is
  // (SessionStarted.unattached).
  Status attached;
  // The positions at which the input has ended too many workers of the backend.
  // No further worker is tried at these positions.
  std::vector<PoisonedPosition> poisoned;
  // The generation of the bulkheadd that numbered the session
  // (SupervisorConnections). Each bulkheadd numbers its sessions anew.
  uint64_t generation = 0;
};

}  // namespace bulkhead::supervisor_link
