// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/started_worker.h"
#include "core/application/supervisor_link/supervisor_calls.h"
#include "core/application/supervisor_link/supervisor_connections.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/host_options.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// The requests to bulkheadd about a session and its worker. OpenSession() may
// ask any bulkheadd. All other requests are for the bulkheadd that started the
// worker. If that bulkheadd is dead or was replaced, the functions send nothing
// and return at once: its workers end with it.
//
// Thread-safe. SupervisorLink owns this object and the objects that the
// constructor gets.
class SessionRequests {
 public:
  SessionRequests(const Deadlines& deadlines,
                  SupervisorConnections& connections, SupervisorCalls& calls)
      : deadlines_(deadlines), connections_(connections), calls_(calls) {}

  // Asks bulkheadd to find or start a worker, and to send the session's memory
  // to the worker once the worker is locked down. Errors include:
  // - kBackendLost: bulkheadd died; the caller may call again
  // - kPoisonedInput, kDeadlineExceeded, kResourceExhausted: the input has
  //   ended too many workers while it was opened (RefusalOf())
  // - kCancelled: `cancel` was raised; a worker that still starts is ended
  Result<StartedWorker> OpenSession(const SessionRequest& request,
                                    CancelSignal& cancel);
  // Has bulkheadd send the worker a frame pool, and keep the pool for the next
  // worker. `fd` is the descriptor of the pool. If it is -1, bulkheadd sends
  // the pool that it has kept for the session `kept_for`. Returns kNotFound if
  // bulkheadd has no such pool, kBackendLost if bulkheadd or the worker died.
  Status AttachPool(const StartedWorker& worker, uint32_t slot_count,
                    uint64_t slot_bytes, int fd, uint64_t kept_for,
                    CancelSignal& cancel);
  // Has bulkheadd end the worker or wait for its end, as `how` says, for about
  // `patience`. Returns whether the worker is known to have ended. Returns
  // kBackendLost if bulkheadd died or hung and was killed; the worker then ends
  // too. Returns kCancelled if `cancel`, which may be null, was raised.
  Result<bool> EndWorker(const StartedWorker& worker,
                         ipc::schema::EndWorker::How how,
                         std::chrono::milliseconds patience,
                         CancelSignal* cancel);
  // Reports the exit to bulkheadd, which counts it, and blocks until bulkheadd
  // knows how the worker ended. If bulkheadd does not know, the report has the
  // kind kUnknown. It has that kind also if `cancel` was raised; the signal
  // then stays raised. Call this once for each worker.
  ExitVerdict SessionExit(const StartedWorker& worker, const ObservedExit& seen,
                          CancelSignal& cancel);
  // Returns whether the bulkheadd that started the worker is alive, as far as
  // this process knows without asking.
  bool StillServes(const StartedWorker& worker) const {
    return connections_.Serves(worker.generation);
  }
  // Reports to bulkheadd that the session got past `position`, so that the
  // input is not to blame for workers that died at `position`.
  void FrameDelivered(const StartedWorker& worker,
                      const InputPosition& position);
  // Reports to bulkheadd that the session is over.
  void CloseSession(const StartedWorker& worker);
  // Reports to bulkheadd that a stream moved from `device` to the device of
  // `worker` (VideoOptions::on_failure). `text` says why, for people.
  void TellFailover(const StartedWorker& worker, const std::string& device,
                    const std::string& text);
  // Has bulkheadd compare the frames of the session with the frames of another
  // device. `media_and_frames` holds the descriptor of the media and one end of
  // a socket pair; the application sends hashes of its frames over the other
  // end. If `fill` writes a reason why the frames cannot be compared, the
  // descriptor of the media is left out, and bulkheadd only counts the frames.
  void Shadow(const StartedWorker& worker,
              const std::function<void(ipc::schema::Shadow::Builder)>& fill,
              std::span<const int> media_and_frames);

 private:
  const Deadlines& deadlines_;
  SupervisorConnections& connections_;
  SupervisorCalls& calls_;
};

}  // namespace bulkhead::supervisor_link
