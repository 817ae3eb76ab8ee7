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
#include "core/supervisor/backend/backend_processes.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/blame/blame.h"

namespace bulkhead::backend {

// Tries one backend: has it decode known clips, before a new version takes
// over, when Blame puts it on trial, and when a session says that a device is
// lost (DecodingCheck). Says what a failure proves.
//
// Owned by Lifecycle. Bound to the event loop's thread.
class Trials : public blame::BlameSubject {
 public:
  class Owner {
   public:
    // Returns whether the backend is ready.
    virtual bool IsReady() const = 0;
    // Says why nothing was decoded although a check passed.
    virtual void Explain(std::string why) = 0;
    virtual void Quarantine(Code code, const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  // All but `number` are borrowed.
  Trials(const discovery::BackendCandidate& candidate, unsigned number,
         const StartContext& context, const BackendProcesses& processes,
         Owner& owner)
      : candidate_(candidate),
        number_(number),
        context_(context),
        processes_(processes),
        owner_(owner) {}
  KJ_DISALLOW_COPY(Trials);

  // Decodes the built-in clip, and the backend's own clips, with the running
  // backend, before it takes over from another version. Fails if its
  // bulkhead.toml names a clip that could not be used when it was found.
  kj::Promise<Status> CheckNewVersion();
  // Says what became of a device that a worker with media has said to be lost,
  // in a session that was opened at `opened`.
  struct DeviceFate {
    // Processes that have seen no media find it lost, too (DecodingCheck).
    bool lost = false;
    // Other sessions have lost it at the same time.
    bool together = false;
  };
  kj::Promise<DeviceFate> CheckDevice(
      const std::string& device, std::chrono::steady_clock::time_point opened);

  std::chrono::steady_clock::time_point Now() const override;

 private:
  bool ProvesNothingElsewhere() const override;
  bool CanBeTried() const override;
  // Decodes the same in a fresh incarnation, since this one has workers with
  // media. A clip that cannot be read is left out, since an upgrade may have
  // removed it.
  kj::Promise<Status> CheckHealth() override;
  blame::QuarantineRecord DescribeObject() const override;
  kj::Promise<Result<std::string>> HashObject() override;
  void Quarantine(Code code, const std::string& why) override {
    owner_.Quarantine(code, why);
  }
  kj::Promise<Status> CheckAfresh(const std::string& device);
  // Takes over why nothing was decoded.
  Status Explain(DecodingCheck::Outcome checked);

  // The latest check whether a device is lost.
  struct DeviceCheck {
    bool under_way = false;
    uint32_t sessions = 0;  // those that it answers
    DeviceFate fate;
    // The time at which it was over.
    std::chrono::steady_clock::time_point over;
    kj::Maybe<kj::ForkedPromise<void>> ends;
  };

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  const BackendProcesses& processes_;
  Owner& owner_;
  std::map<std::string, DeviceCheck> device_checks_;
};

}  // namespace bulkhead::backend
