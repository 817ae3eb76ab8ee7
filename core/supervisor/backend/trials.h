// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/incarnations.h"
#include "core/supervisor/blame/blame.h"

namespace bulkhead::backend {

// Has one backend decode known clips (DecodingCheck) and says what a failure
// proves. This happens before a new version takes over, when Blame puts the
// backend on trial, and when a session says that a device is lost.
//
// Owned by Lifecycle. Bound to the event loop's thread.
class Trials : public blame::BlameSubject {
 public:
  class Owner {
   public:
    // Returns whether the backend is ready.
    virtual bool IsReady() const = 0;
    // Gets the reason why a check passed without decoding anything.
    virtual void Explain(std::string why) = 0;
    virtual void Quarantine(Code code, const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  // All but `number` are borrowed.
  Trials(const discovery::BackendCandidate& candidate, unsigned number,
         const StartContext& context, const Incarnations& incarnations,
         Owner& owner)
      : candidate_(candidate),
        number_(number),
        context_(context),
        incarnations_(incarnations),
        owner_(owner) {}
  KJ_DISALLOW_COPY(Trials);

  // Has the running backend decode the built-in clip and its own clips, before
  // it takes over from another version. Fails if its bulkhead.toml names a clip
  // that could not be used when discovery found the backend.
  kj::Promise<Status> CheckNewVersion();
  struct DeviceFate {
    // True if processes that have seen no media find the device lost, too.
    bool lost = false;
    // True if other sessions have lost the device at the same time.
    bool together = false;
  };
  // Checks the claim of a worker with media that a device is lost. `opened` is
  // the time at which the worker's session was opened: a session that was
  // opened before the latest check was over shares its outcome.
  kj::Promise<DeviceFate> CheckDevice(
      const std::string& device, std::chrono::steady_clock::time_point opened);

  std::chrono::steady_clock::time_point Now() const override;

 private:
  // See BlameSubject.
  bool ProvesNothingElsewhere() const override;
  bool CanBeTried() const override;
  // Has a fresh incarnation decode the clips, since the incarnation that serves
  // has workers with media. A clip that cannot be read is left out, since an
  // upgrade may have removed it.
  kj::Promise<Status> CheckHealth() override;
  blame::QuarantineRecord DescribeObject() const override;
  kj::Promise<Result<std::string>> HashObject() override;
  void Quarantine(Code code, const std::string& why) override {
    owner_.Quarantine(code, why);
  }
  // Has a fresh incarnation decode on `device`, or on the first device if
  // `device` is empty.
  kj::Promise<Status> CheckAfresh(const std::string& device);
  // Returns the status of a check. If nothing was decoded, gives the owner the
  // reason.
  Status Explain(DecodingCheck::Outcome checked);

  // The latest check whether a device is lost.
  struct DeviceCheck {
    bool under_way = false;
    uint32_t sessions = 0;  // the sessions that wait or waited for it
    DeviceFate fate;
    std::chrono::steady_clock::time_point over;  // the time of its end
    kj::Maybe<kj::ForkedPromise<void>> ends;
  };

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  const Incarnations& incarnations_;
  Owner& owner_;
  std::map<std::string, DeviceCheck> device_checks_;
};

}  // namespace bulkhead::backend
