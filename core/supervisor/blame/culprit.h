// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/supervisor/blame/process_exit.h"

namespace bulkhead::blame {

// The party to blame for the end of a process. Each culprit except kNobody and
// kBreach has a counter and a limit of its own. So a file that kills its worker
// is not counted against the backend, and a card that fell off the bus is
// counted against neither the file nor the backend.
enum class Culprit : uint8_t {
  kNobody,   // a SIGKILL sent by others, or the end of a zygote or of bulkheadd
  kInput,    // counted by input and position, in InputDeaths
  kBackend,  // died or broke the protocol without media, or dies on our own
  kDevice,   // was lost, or its enumeration crashed or hung
  kStart,    // the zygote, or the enumeration of no granted device, crashed,
             // hung or broke the protocol while starting
  kBreach,   // broke the protocol or the C ABI with media, or said that it
             // failed: the backend's doing, for which nothing is counted
};

// A host's observation of a worker that ended. Only the host knows the reason
// for which it killed a worker.
enum class HostObservation : uint8_t {
  kDied,            // the worker ended by itself or was killed by others
  kMissedDeadline,  // killed by the host: a step exceeded its deadline
  kFoundStopped,    // the same, while another process had stopped the worker
  kBrokeProtocol,   // killed by the host: a message violated the protocol
};

// Returns whether a worker said through the backend's interface that its device
// is lost, and ended as workers do then.
bool SaysDeviceLost(const ProcessExit& exit);

// Returns whose fault the end of a session's worker was. `met_media` says
// whether the worker had been given the input; before that no input can be to
// blame.
//
// - kNobody: a SIGKILL that bulkheadd did not send, a worker that another
//   process had stopped, an end that nobody can explain, an end together with
//   the zygote, and the death of a worker that served several sessions. Those
//   sessions are replayed in workers of their own, where the guilty input kills
//   only its own worker.
//   The same holds for what ends while the backend's tasks are used up.
// - kDevice: the backend was granted device nodes, the worker said through the
//   backend's interface that the device is lost, and ended, and processes
//   without media found it lost as well. Where they did not, the input is to
//   blame: a file may make the worker say so, or the device fail for itself. If
//   other sessions lost it at the same time, it is a breach.
// - kBackend: the worker ended, missed a deadline or broke the protocol before
//   it was given media. A worker that ends or is late with media counts against
//   the input.
// - kBreach: the worker broke the protocol, or reported that its backend broke
//   the C ABI, after it was given media. The file is not to blame: a backend
//   has to take any file. Nor is the backend punished: a file may have taken
//   the worker over. Every session reads what the backend did. The same holds
//   for a worker that said through the backend's interface that the backend
//   failed, or that a device is lost which the backend was not granted.
//
// A death that this function blames on the input, or a breach, may later be
// blamed on the backend: see suspects.h.
Culprit CulpritOf(const ProcessExit& exit, HostObservation observed,
                  bool met_media);

}  // namespace bulkhead::blame
