// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/device_name.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/backend_counts.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/lifecycle.h"
#include "core/supervisor/backend/workers.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/records/crash_recorder.h"
#include "core/supervisor/records/session_book.h"

namespace bulkhead::backend {

// One discovered backend and its sessions. Its Lifecycle starts and stops the
// backend; this class opens sessions in its workers (workers.h) and learns how
// they end. A worker's death does not change the backend's state, unless Blame
// counts one failure too many.
//
// Held by BackendRoster. Bound to the event loop's thread.
class Backend {
 public:
  struct StartedSession {
    uint64_t id;
    uint32_t device_ordinal;
    std::string device;  // canonical: "openreg:1"
    int pidfd;           // borrowed; valid until the session is closed
    bool shared;         // true if the worker may serve other sessions too
  };
  struct PlacedSession {
    StartedSession session;
    ipc::UniqueFd socket;  // bulkheadd's end; the other one is the worker's
  };

  struct OpenedSession {
    uint64_t id;
    std::string device;
    records::SessionOrigin origin;
    pid_t worker_pid;
    // The reaper and the zygote of this session alone; null if it has none.
    const Incarnation* own_processes;
  };

  // The host's account of a session after the host saw the session's worker
  // end.
  struct ReportedExit {
    uint64_t id;
    blame::HostObservation observed;
    bool met_media;
    InputPosition position;
    records::SessionFacts facts;
  };
  // The answer to the host's ReportedExit.
  struct JudgedExit {
    ExitReport report;
    blame::Culprit culprit = blame::Culprit::kNobody;
    // The deaths that the input has caused at that position.
    uint32_t deaths_here = 0;
    bool lacked_tasks = false;
  };

  // `number` is unique among the backends. `context` and `keeper` must outlive
  // this object.
  Backend(discovery::BackendCandidate candidate, unsigned number,
          const StartContext& context, BackendKeeper& keeper);

  // Starts the backend if necessary, and has a worker for `device` serve the
  // session, which `id` names from then on. `alone` asks for a worker of its
  // own, even if the manifest says that sessions share one. A backend that was
  // replaced serves only sessions that continue one of its own.
  kj::Promise<Result<PlacedSession>> OpenSession(uint64_t id,
                                                 const DeviceName& device,
                                                 bool alone,
                                                 records::SessionOrigin origin);
  bool HasSession(uint64_t id) const { return workers_.Serves(id); }
  // Checks the worker's lock-down; see Workers::Confirm.
  Status ConfirmSession(uint64_t id) { return workers_.Confirm(id); }
  // Resolves with how the session's worker ended and whose fault it was, and
  // counts it. Call it once for each worker that ended.
  kj::Promise<JudgedExit> JudgeExit(const ReportedExit& reported,
                                    std::chrono::milliseconds timeout);
  // See Workers::MakeRoomFor.
  kj::Promise<bool> MakeRoomFor(uint64_t id) {
    return workers_.MakeRoomFor(id);
  }
  void FrameDelivered(uint64_t id, InputPosition position);
  void CloseSession(uint64_t id);
  // Returns the positions at which sessions of `input` are refused.
  std::vector<PoisonedPosition> Refused(const std::string& input);
  // Starts the backend if necessary; fails if it has no such device.
  kj::Promise<Status> Prepare(const DeviceName& device);

  Lifecycle& lifecycle() { return lifecycle_; }
  const Lifecycle& lifecycle() const { return lifecycle_; }
  const discovery::BackendCandidate& candidate() const {
    return lifecycle_.candidate();
  }
  // Returns the devices that new sessions may name; none while it drains.
  std::vector<DescribedDevice> devices() const;

  // Returns whether a session is open or being opened.
  bool busy() const { return opening_ > 0 || workers_.busy(); }
  // Resolves once no session is left. Call it once, after Lifecycle::Retire()
  // or FilesChanged().
  kj::Promise<void> WhenDrained();

  std::vector<pid_t> session_pids() const { return workers_.pids(); }
  std::vector<OpenedSession> sessions() const;
  // The number of workers that ended while they had a session.
  uint32_t worker_ends() const { return worker_ends_; }
  // Counts a stream that left for another device because this backend failed.
  void CountFailover() {
    ++failovers_;
    ++counts_.failovers;
  }
  uint32_t failovers() const { return failovers_; }
  // Counts a stream for which the other device failed as well.
  void CountFailedFailover() {
    ++failed_failovers_;
    ++counts_.failed_failovers;
  }
  uint32_t failed_failovers() const { return failed_failovers_; }
  // Counts a stream that was refused without a worker.
  void CountRefusal() { ++counts_.refused_streams; }
  // Adds what the open sessions have come to (session_book.h).
  void AddOpen(BackendCounts& counts) const {
    book_.AddOpen(counts, lifecycle_.Now());
  }

 private:
  // Waits for the end of the backoff of a lost device; refuses at once if the
  // backoff is long.
  kj::Promise<Status> AwaitDevice(const std::string& device);
  kj::Promise<Result<PlacedSession>> PlaceSession(
      uint64_t id, Workers::Placing placing, const CountedDevice& device,
      records::SessionOrigin origin);
  // Completes how a worker ended with what others are asked for: whether the
  // tasks of the backend are used up, and whether a device is lost.
  kj::Promise<blame::ProcessExit> Investigate(const ReportedExit& reported,
                                              blame::ProcessExit exit);
  kj::Promise<blame::ProcessExit> CheckDevice(const ReportedExit& reported,
                                              blame::ProcessExit exit);
  JudgedExit Judge(const ReportedExit& reported,
                   const blame::ProcessExit& exit);
  void AcquitByFrames();
  void NoteSessionsEnded();

  const StartContext& context_;
  Lifecycle lifecycle_;
  Workers workers_;
  BackendCounts& counts_;
  records::SessionBook book_;
  uint32_t opening_ = 0;  // sessions that have no worker yet
  uint32_t worker_ends_ = 0;
  uint32_t failovers_ = 0;
  uint32_t failed_failovers_ = 0;
};

}  // namespace bulkhead::backend
