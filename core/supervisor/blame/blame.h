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
  // Returns whether failures of the backend may come from low limits of this
  // application (core/base/application_limits.h). They prove nothing about the
  // backend in other applications, so it is not quarantined then.
  virtual bool ProvesNothingElsewhere() const = 0;
  // Returns whether the backend has a live zygote, so that a health check
  // proves something.
  virtual bool CanBeTried() const = 0;
  // Runs a health check: processes of the backend that have seen no media
  // decode known clips.
  virtual kj::Promise<Status> CheckHealth() = 0;
  // Returns the identity of the installed object; its hash is not needed.
  virtual QuarantineRecord DescribeObject() const = 0;
  // Hashes the object on disk ("sha256=…"). Fails if the object is not the one
  // that was discovered.
  virtual kj::Promise<Result<std::string>> HashObject() = 0;
  // Stops the backend. Called when a limit of failures is reached; `code` and
  // `why` describe the last failure.
  virtual void Quarantine(Code code, const std::string& why) = 0;

 protected:
  ~BlameSubject() = default;
};

// Returns whether a failed health check proves nothing about the backend, since
// memory, tasks, processors or time were short, or others ended a process. A
// file may be the reason for such a shortage.
inline bool ProvesNothing(const Status& check) {
  return check.code() == Code::kResourceExhausted;
}

// The death of a session's worker, and the facts about the session.
struct WorkerDeath {
  ProcessExit exit;
  HostObservation observed = HostObservation::kDied;
  bool met_media = false;  // true if the worker had been given the media
  InputPosition position;  // the place in the input that was asked for
  std::string input;       // the key of InputDeaths
  std::string device;      // canonical: "openreg:1"
  std::chrono::steady_clock::time_point opened;  // when the session was opened
};

struct BlameLimits {
  // The deaths at one position after which an input is refused there.
  uint32_t attempts_per_position = 3;
  RestartLimits restarts;
};

// Decides whose fault the end of each process of one backend was, and counts
// the end for that culprit. Then decides what follows: an input that is refused
// (poisoned), a wait for a device, a backoff, a trial or a quarantine.
//
// There are four counters: input (InputDeaths), device (DeviceLosses), backend
// and start (RestartPolicy). The deaths that inputs caused do not count against
// the backend. But deaths on several inputs in a row put it on trial
// (Suspects).
//
//   blame.NoteFrame(device, input);              // frames acquit first
//   const Culprit culprit = blame.Attribute(death);
//   report.crash = ...;                          // record the culprit
//   deaths_here = blame.Count(death, culprit, report);
//
// Owned by Lifecycle, whose Trials are its subject. Bound to the event loop's
// thread. Trusts the reaper and the host. What a worker claims (the fields of
// ProcessExit that begin with `says_`) never counts against the backend or its
// device by itself.
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
  // Counts the death for `culprit`. If later sessions are refused because of
  // it, their error has `report`. Returns the number of deaths that the input
  // has caused at that position, or 0 if the input is not to blame.
  uint32_t Count(const WorkerDeath& death, Culprit culprit,
                 const ExitReport& report);
  // Counts a failure of the backend (kBackend), of its start (kStart) or of its
  // device during the start (kDevice), and begins a backoff. Quarantines the
  // backend if the limit of such failures is reached and low limits of this
  // application cannot be the reason.
  void CountFailure(Culprit culprit, Code code, const std::string& why);
  // Begins a backoff without counting a failure: the backend said why it cannot
  // be started.
  void CountDeclined() { policy_.Declined(subject_.Now()); }
  void BecameReady() { policy_.BecameReady(subject_.Now()); }

  // Acquits the backend, and `device` of the losses that sessions on `input`
  // have seen, since a session on `input` got a frame from `device`.
  void NoteFrame(const std::string& device, const std::string& input);
  // Acquits the input at `position`, since a session got the frame there.
  void FrameDelivered(const std::string& input, InputPosition position) {
    inputs_.Delivered(input, position);
  }

  struct Trial {
    bool held;       // false if nothing was proven
    Status failure;  // OK if the backend passed
  };
  // Runs a health check now, and again if it fails. Counts a failure of the
  // backend if both fail. `charge` is the reason for the trial, in words.
  kj::Promise<Trial> Try(const std::string& charge);

  // Returns the positions at which sessions of `input` are refused.
  std::vector<PoisonedPosition> Refused(const std::string& input) {
    return inputs_.Refused(input, subject_.Now());
  }
  // Returns how long a lost device must not be used; zero if it may be used.
  std::chrono::nanoseconds DeviceTimeLeft(const std::string& device) const {
    return losses_.TimeLeft(device, subject_.Now());
  }
  // Returns how long the backend must not be started; zero if it may be
  // started.
  std::chrono::nanoseconds BackoffLeft() const;

  // Keeps a record of the quarantine that outlives bulkheadd. Does nothing if
  // the quarantine has a record already.
  void RecordQuarantine(Code code, const std::string& why);
  // Notes that the quarantine follows from an existing record.
  void AdoptRecord() { recorded_ = true; }
  // Returns whether the quarantine has ended: its record was taken away, by an
  // operator or by another bulkheadd, or libraries were installed since.
  bool QuarantineIsOver() const;

  // Forgets every failure, suspicion and loss, and removes the record.
  void Forgive();

  // Returns the failures of the backend or of its start that count now.
  uint32_t failures(Culprit culprit) const { return policy_.failures(culprit); }

 private:
  // Resolves with the outcome of a health check, or of a second check if the
  // first failed.
  kj::Promise<Status> CheckTwice();
  // Returns whether the outcome of a health check convicts the backend.
  bool Convicts(const Status& checked) const;
  // Tries the backend since workers died of several inputs: checks it twice,
  // and convicts it if both checks fail.
  void BeginTrial();
  // Adds the hash of the object to the record, and writes the record.
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
