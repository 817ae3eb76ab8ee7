// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <string>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/health_check.h"
#include "core/supervisor/backend/start_context.h"

namespace bulkhead::supervisor {

// Checks that a backend works where no file can reach: starts it once more,
// beside the incarnation that serves, and has that one decode the clips of a
// health check. So its processes, its tasks and, in tier full, its count of
// tasks are its own, whatever workers with media have taken or done.
//
//     auto check = std::make_shared<FreshCheck>(candidate, number, context);
//     check->Run("").then([](Status outcome) { ... });
//
// The outcome is OK if the backend works, kResourceExhausted if nothing was
// learned, since memory, tasks, processors or time were short or somebody ended
// a process (ProvesNothing()), and otherwise the failure of the backend.
//
// Owned by the promise of whoever asks. Bound to the event loop's thread.
class FreshCheck {
 public:
  // `candidate` and `context` are borrowed. `number` is that of the backend.
  FreshCheck(const discovery::BackendCandidate& candidate, unsigned number,
             const StartContext& context)
      : candidate_(candidate),
        context_(context),
        start_(candidate, number, context),
        devices_(candidate) {}
  KJ_DISALLOW_COPY(FreshCheck);

  // Runs the check on `device`, a canonical name, or on the first device if it
  // is empty. May be called once. A device that is not there any more is a
  // failure.
  kj::Promise<Status> Run(const std::string& device);
  // Returns whether a process was started. If not, the installed files may be
  // others than those that serve. Call it after the check.
  bool launched() const { return start_.incarnation() != nullptr; }
  // Why nothing was decoded although the check passed, for people; empty if
  // something was. Call it after the check.
  const std::string& unchecked() const { return unchecked_; }

 private:
  kj::Promise<Status> Decode(const CountedDevice& device);
  // Judges a start that failed. `of_device` says that a device is in question.
  Status JudgeStart(const Status& failure, bool of_device) const;

  const discovery::BackendCandidate& candidate_;
  const StartContext& context_;
  BackendStart start_;
  Devices devices_;
  std::string unchecked_;
};

// Has `incarnation` decode the clips of a health check on `device`. Sets
// `unchecked` if it passes and nothing was decoded.
kj::Promise<Status> CheckClipsOn(const discovery::BackendCandidate& candidate,
                                 const StartContext& context,
                                 std::shared_ptr<Incarnation> incarnation,
                                 const CountedDevice& device,
                                 std::string& unchecked);

}  // namespace bulkhead::supervisor
