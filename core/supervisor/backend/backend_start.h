// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/control/crash_note.h"
#include "core/discovery/discover.h"
#include "core/discovery/package_files.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/granting.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/blame/restart_policy.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// One attempt to start a backend. Opens and verifies the vendor's shared object
// and finds the other files of the backend (package_files.h). Launches a zygote
// that loads the object, and has a worker, the probe, count the devices. Every
// wait has a deadline, and every message from the zygote and the probe is
// validated.
//
// Owned by Incarnations, which makes a new object for each start and keeps the
// last. Bound to the event loop's thread.
class BackendStart {
 public:
  // `candidate` and `context` are borrowed. `number` is unique among the
  // backends.
  BackendStart(const discovery::BackendCandidate& candidate, unsigned number,
               const StartContext& context)
      : candidate_(candidate), number_(number), context_(context) {}
  KJ_DISALLOW_COPY(BackendStart);

  // Makes the attempt. Call it once.
  kj::Promise<Status> Run();
  // Ends the attempt at once. Run() resolves with OK, which means nothing:
  // abandoned() is true then.
  void Abandon();
  bool abandoned() const { return abandoned_; }
  // Returns whether Run() was called and its promise has not resolved yet.
  bool under_way() const { return under_way_; }

  // Returns the launched incarnation, or null before the launch.
  const std::shared_ptr<Incarnation>& incarnation() const {
    return incarnation_;
  }
  // Hands over the launched incarnation. Call it after the attempt is over.
  std::shared_ptr<Incarnation> TakeIncarnation() {
    return std::move(incarnation_);
  }
  // Returns the launch that each session repeats if the backend has
  // start = "exec". Returns null for other backends and before the launch.
  const std::shared_ptr<const BackendLaunch>& launch() const { return launch_; }
  // Returns the culprit of a failed attempt. Nobody is punished for a failure
  // without a culprit: the backend itself said why it cannot be started, the
  // machine is the reason, or none of the backend's code ran.
  std::optional<blame::Culprit> culprit() const { return culprit_; }
  // Returns whether the zygote loads a copy of the object, into which nobody
  // can write.
  bool runs_copy() const { return launched_copy_; }
  // Returns whether a finished attempt got as far as the count of the devices.
  // A failure of such an attempt is the probe's.
  bool probing() const { return probing_; }
  // The quarantine record because of which nothing was launched, if any.
  const std::optional<blame::QuarantineRecord>& quarantine() const {
    return quarantine_;
  }
  const std::vector<CountedDevice>& devices() const { return devices_; }
  const grants::Effective& granted() const { return granted_; }
  // Returns LibrariesChangedNs() as it was when the attempt was made.
  int64_t libraries_ns() const { return libraries_ns_; }
  // Returns, for each granted hash that was compared with the object, whether
  // the object has it.
  const HashVerdicts& hash_verdicts() const { return hash_verdicts_; }
  // Returns remarks about the distribution's files that the backend cannot see.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  // Has a child process read the files first, since a remote file system may
  // not answer (first_read.h), then makes the attempt.
  kj::Promise<Status> Attempt();
  kj::Promise<Status> AttemptLocally();
  Granting Granted() const;
  // Checks that the object has the hash in RECORD or, if RECORD has no hash,
  // that the file has settled.
  kj::Promise<Status> VerifyComplete(int object);
  // If the sandbox can show a copy (tier full), copies a vendor's object to a
  // sealed memfd, which nobody can change. Then checks the file that will be
  // loaded, copy or object, against the hash in RECORD, if there is one.
  kj::Promise<Status> VerifyCopy(int object);
  // Returns the descriptor of the copy, or `object` if there is none.
  int Loaded(int object) const {
    return object_copy_ ? object_copy_.get() : object;
  }
  // Fails if the object is quarantined. Removes the record of the quarantine if
  // the object or the machine's libraries have changed since.
  kj::Promise<Status> CheckQuarantine(int object);
  // Notes for each of the granted `hashes` whether the object has it.
  kj::Promise<void> VerifyGrants(int object, std::vector<std::string> hashes);
  // Finds the files of the distribution. Borrows `opened`. A package may have
  // many files, so the event loop runs between the steps of ExamineFiles().
  kj::Promise<Status> FindFiles(const discovery::OpenedBackend& opened);
  kj::Promise<Status> ExamineFiles(kj::TimePoint limit);
  Status Launch(discovery::OpenedBackend opened);
  kj::Promise<Status> Probe();
  // Notes the culprit of the failure `status` and returns `status`.
  Status Blaming(blame::Culprit culprit, Status status);
  // Returns the failure `status` of the zygote and notes its culprit:
  // - kNobody if the zygote was lost or resources ran out;
  // - none if the zygote declined or had not run any code of the vendor;
  // - kStart for any other failure.
  //
  // Adds a likely reason if a zygote declined and cannot open its files.
  Status BlamingZygote(Status status);

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  const int64_t libraries_ns_ = blame::LibrariesChangedNs();
  ipc::UniqueFd object_copy_;  // set by VerifyCopy(), until the launch
  bool launched_copy_ = false;
  std::shared_ptr<const BackendLaunch> launch_;
  std::shared_ptr<Incarnation> incarnation_;
  bool abandoned_ = false;
  bool under_way_ = false;
  kj::Own<kj::PromiseFulfiller<Status>> abandon_;
  std::optional<blame::Culprit> culprit_;
  bool probing_ = false;
  std::optional<blame::QuarantineRecord> quarantine_;
  std::vector<CountedDevice> devices_;
  HashVerdicts hash_verdicts_;
  // The files of the distribution while they are examined.
  std::optional<discovery::PackageFiles> own_files_;
  Diagnostics diagnostics_;
  grants::Effective granted_;
};

}  // namespace bulkhead::backend
