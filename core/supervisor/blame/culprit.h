// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/supervisor/blame/process_exit.h"

namespace bulkhead::blame {

// The party to blame for the end of a process. Each culprit except kNobody and
// kBreach has a counter and a limit of its own. So a file that kills its worker
// is not counted against the backend. A card that fell off the bus is counted
// against neither the file nor the backend.
enum class Culprit : uint8_t {
  kNobody,   // a SIGKILL sent by others, or an end together with the zygote or
             // with bulkheadd
  kInput,    // counted by input and position, in InputDeaths
  kBackend,  // died or broke the protocol without media, or fails known clips
  kDevice,   // was lost, or the worker that counted granted devices crashed or
             // hung
  kStart,    // the zygote, or the worker that counted devices without granted
             // nodes, crashed, hung or broke the protocol during a start
  kBreach,   // broke the protocol or the C ABI with media, or said that the
             // backend failed: the backend's fault, but nothing is counted
};

// A host's observation of a worker that ended. Only the host knows the reason
// for which it killed a worker.
enum class HostObservation : uint8_t {
  kDied,            // the worker ended by itself or was killed by others
  kMissedDeadline,  // killed by the host: a step exceeded its deadline
  kFoundStopped,    // also late, but another process had stopped the worker
  kBrokeProtocol,   // killed by the host: a message violated the protocol
};

// Returns whether a worker said that its device is lost (BULKHEAD_DEVICE_LOST
// of the C ABI), and then ended with the exit status for that.
bool SaysDeviceLost(const ProcessExit& exit);

// Returns whose fault the end of a session's worker was. `met_media`: true if
// the worker had been given the input. The first rule that fits decides:
//
// 1. kInput: bulkheadd ended a worker of one session with media, since it had
//    more than its share of the backend's tasks.
// 2. kNobody: the worker ended by a SIGKILL that Bulkhead did not send, in an
//    unknown way, or with its zygote; or it had served several sessions. Those
//    sessions are replayed in workers of their own, so the guilty input kills
//    only its own worker.
// 3. kNobody: the worker ended or was late while the backend's tasks were used
//    up; or another process had stopped it; or, with media, another program
//    sent it a signal that no fault raises (SIGTERM).
// 4. kBackend: the worker had no media.
// 5. kBreach: the worker broke the protocol, or reported that its backend broke
//    the C ABI. The file is not to blame: a backend has to withstand any file.
//    Nor is the backend punished: a file may have taken the worker over. Every
//    session gets an error that says what the backend did.
// 6. The worker said through the C ABI that its device is lost, and ended:
//    - kDevice: device nodes were granted, and processes without media found
//      the device lost as well.
//    - kInput: device nodes were granted, and only this session lost the
//      device. A file may make the worker say so, or make the device fail for
//      this worker alone.
//    - kBreach: in all other cases. Either no device nodes were granted, or
//      other sessions lost the device at the same time.
// 7. kBreach: the worker said through the C ABI that the backend failed.
// 8. kInput: any other end, and a missed deadline.
//
// A death for which this function names kInput or kBreach may still be blamed
// on the backend: see suspects.h.
Culprit CulpritOf(const ProcessExit& exit, HostObservation observed,
                  bool met_media);

}  // namespace bulkhead::blame
