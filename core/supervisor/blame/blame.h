// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/control/input_position.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/blame/device_losses.h"
#include "core/supervisor/blame/input_deaths.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/blame/restart_policy.h"
#include "core/supervisor/blame/suspects.h"

namespace bulkhead::blame {

// The services that Blame needs from the backend that it judges. Trials
// implement them; tests implement them without processes.
class BlameSubject {
 public:
  // The monotonic time.
  virtual std::chrono::steady_clock::time_point Now() const = 0;
  // Returns whether the backend may fail for want of what only this application
  // lacks (core/base/application_limits.h). It is never quarantined then.
  virtual bool ProvesNothingElsewhere() const = 0;
  // Returns whether the backend has a live zygote, so that a health check
  // proves something.
  virtual bool CanBeTried() const = 0;
  // Has processes of the backend that have seen no media decode the built-in
  // clip.
  virtual kj::Promise<Status> CheckHealth() = 0;
  // Returns the identity of the installed object; its hash is not needed.
  virtual QuarantineRecord DescribeObject() const = 0;
  // Hashes the object on disk ("sha256=…"). Fails if the object is not the one
  // that was discovered.
  virtual kj::Promise<Result<std::string>> HashObject() = 0;
  // Stops the backend. Called once too many failures were counted; `code` and
  // `why` describe the last failure.
  virtual void Quarantine(Code code, const std::string& why) = 0;

 protected:
  ~BlameSubject() = default;
};

// Returns whether a health check that failed proves nothing about the backend:
// memory, tasks, processors or time were short, or others ended a process. A
// file may be the reason for that.
inline bool ProvesNothing(const Status& check) {
  return check.code() == Code::kResourceExhausted;
}

// The death of a session's worker, and what the session says about it.
struct WorkerDeath {
  ProcessExit exit;
  HostObservation observed = HostObservation::kDied;
  bool met_media = false;
  InputPosition position;
  std::string input;                             // the key of InputDeaths
  std::string device;                            // canonical: "openreg:1"
  std::chrono::steady_clock::time_point opened;  // when the session was opened
};

struct BlameLimits {
  uint32_t attempts_per_position = 3;
  RestartLimits restarts;
};

// Decides whose fault every end of one backend's processes was, counts it for
// that culprit, and decides what follows: a poisoned input, a wait for a
// device, a backoff, a trial or quarantine.
//
// There are four counters: input (InputDeaths), device (DeviceLosses), backend
// and start (RestartPolicy). Deaths that an input caused are never counted for
// the backend. The only exception: deaths on several inputs in a row put the
// backend on trial (Suspects).
//
//   blame.NoteFrame(device, input);              // frames acquit first
//   const Culprit culprit = blame.Attribute(death);
//   report.crash = ...;                          // record the culprit
//   deaths_here = blame.Count(death, culprit, report);
//
// Owned by Lifecycle, whose Trials are its subject. Bound to the event loop's
// thread. Trusts the reaper and the host; claims of a worker are never passed
// to this class.
class Blame {
 public:
  using Time = RestartPolicy::Time;

  // `subject` and `records` must outlive this object.
  Blame(BlameSubject& subject, const BlameLimits& limits,
        QuarantineRecords& records, const RestartPolicy::Random& random);
  KJ_DISALLOW_COPY(Blame);

  // Returns whose fault the death of a worker was. A death that an input caused
  // may begin a trial of the backend.
  Culprit Attribute(const WorkerDeath& death);
  // Counts the death for `culprit`. Sessions that are refused because of the
  // death get `report`. Returns the number of deaths that the input has caused
  // at that position, or 0 if the input is not to blame.
  uint32_t Count(const WorkerDeath& death, Culprit culprit,
                 const ExitReport& report);
  // Counts a failure of the backend (kBackend), of its start (kStart) or of its
  // device during the start (kDevice), and begins a backoff. Quarantines the
  // backend if it was one failure too many and would be one elsewhere too.
  void CountFailure(Culprit culprit, Code code, const std::string& why);
  // Begins a backoff without counting a failure: the backend said why it cannot
  // be started.
  void CountDeclined() { policy_.Declined(subject_.Now()); }
  void BecameReady() { policy_.BecameReady(subject_.Now()); }

  // Acquits the backend, and `device` as far as `input` lost it: a session on
  // the input got a frame from the device.
  void NoteFrame(const std::string& device, const std::string& input);
  // Acquits the input: a session got the frame at `position`.
  void FrameDelivered(const std::string& input, InputPosition position) {
    inputs_.Delivered(input, position);
  }

  // Has the backend decode the built-in clip now, because of `charge`, and
  // counts a failure of the backend if it cannot.
  struct Trial {
    bool held;       // false if nothing was proven
    Status failure;  // OK if it passed
  };
  kj::Promise<Trial> Try(const std::string& charge);

  // Returns the positions at which sessions of `input` are refused.
  std::vector<PoisonedPosition> Refused(const std::string& input) {
    return inputs_.Refused(input, subject_.Now());
  }
  // Returns how long a lost device must not be asked for; zero if it may be.
  std::chrono::nanoseconds DeviceTimeLeft(const std::string& device) const {
    return losses_.TimeLeft(device, subject_.Now());
  }
  // Returns how long the backend must not be started; zero if it may be.
  std::chrono::nanoseconds BackoffLeft() const;

  // Keeps a record of the quarantine that outlives bulkheadd. Changes nothing
  // if the quarantine follows from an existing record; AdoptRecord() notes that
  // case.
  void RecordQuarantine(Code code, const std::string& why);
  void AdoptRecord() { recorded_ = true; }
  // Returns whether the quarantine has ended: its record was taken away, by an
  // operator or by another bulkheadd, or libraries were installed since.
  bool QuarantineIsOver() const;

  // Forgets every failure, suspicion and loss, and removes the record.
  void Forgive();

  // Returns the failures of the backend or of its start that count now.
  uint32_t failures(Culprit culprit) const { return policy_.failures(culprit); }

 private:
  // Resolves with the outcome of a health check, or of a second one if the
  // first one failed.
  kj::Promise<Status> CheckTwice();
  // Returns whether the outcome of a health check convicts the backend.
  bool Convicts(const Status& checked) const;
  void BeginTrial();
  kj::Promise<void> WriteRecord(QuarantineRecord record);

  BlameSubject& subject_;
  QuarantineRecords& records_;
  RestartPolicy policy_;
  InputDeaths inputs_;
  Suspects suspects_;
  DeviceLosses losses_;
  // True if the quarantine has a record, and therefore ends when the record is
  // removed.
  bool recorded_ = false;
  kj::Promise<void> trial_ = kj::READY_NOW;
  kj::Promise<void> recording_ = kj::READY_NOW;
};

}  // namespace bulkhead::blame
