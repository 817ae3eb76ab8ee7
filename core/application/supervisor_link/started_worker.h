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

// The request of a session to bulkheadd for a worker.
struct SessionRequest {
  std::string device;
  bool audio;              // the session decodes audio, else video
  bool alone;              // the worker must serve no other session
  std::string input;       // InputKey() of the input and the options
  std::string path;        // the name of the input, for people
  uint32_t counter;        // place of the session among the session counters
  uint64_t worker_bytes;   // Limits::worker_bytes
  uint64_t session_bytes;  // Limits::session_bytes
  // The memory and the media that the worker gets, as
  // WorkerChannel::descriptors() returns them.
  std::vector<int> memory = {};
  bool served = false;  // the last is a window to the media
  // The session whose worker delivered something before it died, and the number
  // of the bulkheadd that numbered it; 0 if there is none. That session's
  // version of the backend is preferred.
  uint64_t continues = 0;
  uint64_t continues_generation = 0;
  // Called if the backend does not run and declares what it decodes, with the
  // name of another device whose worker can say what the input is. Unless it
  // returns OK, the backend is not started, and the session fails with that
  // error. Empty: the backend is started.
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
  EndBoard::Place end;          // where bulkheadd shows the worker's end
  // Why the worker got neither memory nor media; OK if it got them. Its code
  // says what became of the worker, as SessionStarted.unattached does.
  Status attached;
  // The positions at which the input is refused, because it has ended too many
  // workers of the backend there.
  std::vector<PoisonedPosition> poisoned;
  // The number of the bulkheadd that numbered the session: each bulkheadd
  // numbers its sessions anew.
  uint64_t generation = 0;
};

}  // namespace bulkhead::supervisor_link
