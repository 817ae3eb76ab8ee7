// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/exit_report.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

class DeviceVetting;

// A device, with the data that a session needs to ask for workers on it.
struct DeviceChoice {
  std::string device;      // as the caller named it
  std::string input_key;   // InputKey() of the input and the options
  Crash::Request request;  // only the options; a death sets the other members
  // Checks whether the device decodes the stream, before its first worker is
  // started (SessionRequest::vet). Adds to errors the devices that decode it.
  // May be null.
  std::shared_ptr<const DeviceVetting> vetting;
};

// Holds the worker that serves a session now, if there is one. Asks bulkheadd
// for a worker, has the session open its stream on the worker, and drops the
// worker again. WorkerRecovery decides when to start and drop a worker, and how
// to react to a death.
//
// When a worker dies, link() returns its link until SetAside(). The worker's
// session at bulkheadd stays open longer, until another worker has started.
// Meanwhile, bulkheadd keeps the version of the backend that the worker had.
//
// Trust: the workers are hostile; WorkerLink checks what they send. Owned by
// WorkerRecovery. Not thread-safe.
class CurrentWorker {
 public:
  // The session that the worker serves (VideoSession, for example).
  class Client {
   public:
    // Opens the session's stream on a worker that already has the input. `link`
    // stays valid until WorkerLost(). `incarnation` is 1 for the session's
    // first worker, 2 for the second. Returns false if the stream is not the
    // same as the one that an earlier worker opened.
    virtual Result<bool> OpenOn(worker_link::WorkerLink& link,
                                uint32_t incarnation) = 0;
    // Called before the link is destroyed; the worker's play (request for
    // frames) ends with it. If `kept`, the worker is known to have ended and
    // bulkheadd keeps the descriptor of its memory, so the next worker can get
    // that memory. If not, the memory must not be given to another worker.
    virtual void WorkerLost(bool kept) = 0;
    // Called when the session moves to the device on_failure, to which all
    // later workers belong.
    virtual void DeviceChanged() {}

   protected:
    ~Client() = default;
  };

  // `input` and `client` must outlive the object. `counter` is the index of the
  // counters by which operators see the session (SessionCounting::Lease).
  CurrentWorker(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
                const worker_link::MediaInput& input, DeviceChoice choice,
                const Limits& limits,
                std::shared_ptr<supervisor_link::CancelSignal> cancel,
                uint32_t counter, Client& client);

  // Starts a worker and has the client open the stream. With `alone`, the
  // worker serves no other session. `delivered` says whether the previous
  // worker delivered a frame or samples. If so, bulkheadd prefers the same
  // version of the backend. Requires that link() is null. After an error,
  // link() is the link to a worker that was started and has died, or null.
  Status Start(bool alone, bool delivered);
  // Returns an error if bulkheadd knows that the input kills workers at
  // `position`. `unit` is "frame" for video, "sample" for audio.
  Status CheckAccepts(const InputPosition& position, const char* unit) const;
  // Ends a worker that cannot be used any more, and destroys the link.
  void Drop();
  // Makes link() null after the worker has died. The worker's session at
  // bulkheadd stays open until the next Start() or CloseLost().
  void SetAside();
  // Closes the dead worker's session, if SetAside() has kept it open.
  void CloseLost() { lost_.reset(); }
  // Drops the worker, if any, and changes the device for all later workers.
  void MoveTo(DeviceChoice elsewhere);
  // Returns in words why the worker died. `death` is the error that a step got,
  // `report` the end of the process.
  std::string DescribeCause(const Status& death,
                            const ExitReport& report) const;
  // If an error of opening means that this device does not decode the stream,
  // adds the devices that do (DeviceVetting::Explain()). Returns the error
  // unchanged if no worker of the device has run.
  Status Explain(Status failure) const;

  // Returns the link to the worker, which may have died; null if there is none.
  worker_link::WorkerLink* link() const { return link_.get(); }
  const DeviceChoice& choice() const { return choice_; }
  // Returns the device as the latest worker names it; before the first worker,
  // as the caller named it.
  const std::string& device() const { return device_; }
  // Returns how long the latest worker took to start; 0 before the first.
  std::chrono::microseconds start_time() const { return start_time_; }

 private:
  // Has the client open the stream on the worker that has just been started.
  Status Open();

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const worker_link::MediaInput& input_;
  DeviceChoice choice_;
  const Limits limits_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
  const uint32_t counter_;
  Client& client_;

  std::unique_ptr<worker_link::WorkerLink> link_;
  std::unique_ptr<worker_link::WorkerLink> lost_;  // kept by SetAside()
  bool vetted_ = false;  // a worker of choice_.device has run
  std::string device_;
  uint32_t incarnation_ = 0;
  std::chrono::microseconds start_time_{0};
};

}  // namespace bulkhead::session
