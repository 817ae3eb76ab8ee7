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
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/backend/exit_judge.h"
#include "core/supervisor/backend/external_events.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/lifecycle.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/backend/workers.h"
#include "core/supervisor/records/session_book.h"

namespace bulkhead::backend {

// One backend that discovery found, and its sessions. Lifecycle (lifecycle.h)
// starts and stops the backend. This class places sessions in workers
// (workers.h). ExitJudge (exit_judge.h) decides whose fault the end of a worker
// was. One such end does not change the backend's state. Once the ends reach a
// limit of failures, the backend is quarantined.
//
// Held by BackendRoster. Bound to the event loop's thread. Trusts what the host
// (the application's library) reports about sessions, but not what workers
// claim in these reports.
class Backend {
 public:
  struct StartedSession {
    uint64_t id;
    uint32_t device_ordinal;  // among all devices of the backend
    std::string device;       // canonical: "openreg:1"
    int pidfd;    // the worker's; borrowed; valid until the session is closed
    bool shared;  // true if the worker may serve other sessions too
  };
  struct PlacedSession {
    StartedSession session;
    ipc::UniqueFd socket;  // bulkheadd's end; the worker has the other end
  };

  // An open session as bulkheadd describes it to operators.
  struct OpenedSession {
    uint64_t id;
    std::string device;
    records::SessionOrigin origin;
    pid_t worker_pid;
    // The incarnation of this session alone (start = "exec"), otherwise null.
    const Incarnation* own_processes;
  };

  using ReportedExit = ExitJudge::ReportedExit;
  using JudgedExit = ExitJudge::JudgedExit;

  // `number` is unique among the backends. `context` and `keeper` must outlive
  // this object.
  Backend(discovery::BackendCandidate candidate, unsigned number,
          const StartContext& context, BackendKeeper& keeper);

  // Opens session `id` on `device`: starts the backend if necessary, and has a
  // worker serve the session. `alone` asks for a worker that serves no other
  // session, even if the manifest says that sessions share one. Once a
  // successor has replaced this backend, call this only for a session that
  // takes over a stream from an earlier session of this backend.
  kj::Promise<Result<PlacedSession>> OpenSession(uint64_t id,
                                                 const DeviceName& device,
                                                 bool alone,
                                                 records::SessionOrigin origin);
  bool HasSession(uint64_t id) const { return workers_.Serves(id); }
  // Checks the worker's lock-down; see Workers::Confirm.
  Status ConfirmSession(uint64_t id) { return workers_.Confirm(id); }
  // See ExitJudge::Judge. Call it once for each session whose worker ended.
  kj::Promise<JudgedExit> JudgeExit(const ReportedExit& reported,
                                    std::chrono::milliseconds timeout) {
    return exit_judge_.Judge(reported, timeout);
  }
  // Frees tasks (threads and processes) for session `id`, whose worker says
  // that they ran out. See Workers::MakeRoomFor.
  kj::Promise<bool> MakeRoomFor(uint64_t id) {
    return workers_.MakeRoomFor(id);
  }
  // Acquits the session's input at `position`, where the session got a frame.
  void FrameDelivered(uint64_t id, InputPosition position);
  void CloseSession(uint64_t id);
  // Returns the positions at which sessions of `input` are refused.
  std::vector<PoisonedPosition> Refused(const std::string& input);
  // Starts the backend if necessary; fails if it has no such device.
  kj::Promise<Status> Prepare(const DeviceName& device);

  Lifecycle& lifecycle() { return lifecycle_; }
  const Lifecycle& lifecycle() const { return lifecycle_; }
  ExternalEvents& external_events() { return external_events_; }
  const discovery::BackendCandidate& candidate() const {
    return lifecycle_.candidate();
  }
  // Returns the devices that new sessions may name; none while the backend
  // drains.
  std::vector<DescribedDevice> devices() const;

  // Returns whether a session is open or being opened.
  bool busy() const { return opening_ > 0 || workers_.busy(); }
  // Resolves once no session is left. Call it once, after Retire() or
  // FilesChanged() (external_events.h).
  kj::Promise<void> WhenDrained();

  std::vector<pid_t> session_pids() const { return workers_.pids(); }
  std::vector<OpenedSession> sessions() const;
  // The number of workers that ended while they had a session.
  uint32_t worker_ends() const { return exit_judge_.worker_ends(); }
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
  // Counts a stream that got no worker, since its input kills workers that open
  // it.
  void CountRefusal() { ++counts_.refused_streams; }
  // Adds the counts of the open sessions to `counts` (session_book.h).
  void AddOpen(BackendCounts& counts) const {
    book_.AddOpen(counts, lifecycle_.Now());
  }

 private:
  // Waits until a lost device may be used again; fails at once if that would
  // take longer than a second.
  kj::Promise<Status> AwaitDevice(const std::string& device);
  // Has a worker serve session `id`, and adds the session to the book.
  kj::Promise<Result<PlacedSession>> PlaceSession(
      uint64_t id, Workers::Placing placing, const CountedDevice& device,
      records::SessionOrigin origin);
  // Reports to `lifecycle_` if no session is open or being opened.
  void NoteSessionsEnded();

  const StartContext& context_;
  Lifecycle lifecycle_;
  ExternalEvents external_events_;
  Workers workers_;
  BackendCounts& counts_;
  records::SessionBook book_;
  ExitJudge exit_judge_;
  uint32_t opening_ = 0;  // sessions that have no worker yet
  uint32_t failovers_ = 0;
  uint32_t failed_failovers_ = 0;
};

}  // namespace bulkhead::backend
