// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/supervisor/blame/restart_policy.h"
#include "core/supervisor/blame/process_exit.h"

namespace bulkhead::supervisor {

// How its host saw a worker end: it knows what it killed the worker for.
enum class SeenEnd : uint8_t {
  kDied,  // by itself or by others
  kLate,  // killed: a step took longer than its deadline
  kLied,  // killed: what it sent breaks the protocol
};

// Whose fault the end of a session's worker was. `met_media`: it had been given
// the input, without which no input can be to blame.
//
// Nobody's is a SIGKILL that we did not send, an end that nobody can tell, one
// that came with the end of its zygote, and that of a worker that served others
// too; its sessions are replayed alone, where the guilty one shows itself. The
// device's is that of a worker that says it has lost it.
//
// What is the input's here may turn out to be the backend's: see suspects.h.
Culprit CulpritOf(const WorkerEnd& end, SeenEnd seen, bool met_media);

}  // namespace bulkhead::supervisor
