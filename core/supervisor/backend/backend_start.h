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

// One attempt to start a backend: opens and verifies the files, finds out which
// files beside the object are its own (package_files.h), launches a zygote that
// loads the object, and has a probe worker count the devices. Every wait has a
// deadline. Every message from the zygote and the probe is validated.
//
// Owned by BackendProcesses, which keeps the last attempt and makes a new one
// for each start. Bound to the event loop's thread.
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
  // Ends the attempt at once. Run()'s promise resolves with OK; abandoned()
  // says that the result means nothing.
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
  // Returns what sessions that load the backend anew launch with; null if they
  // do not, or before the launch.
  const std::shared_ptr<const BackendLaunch>& launch() const { return launch_; }
  // Returns the culprit of a failed attempt. Empty if the backend or the
  // machine said why the backend cannot be started, or if it failed before any
  // of its code ran, because nobody is punished for that.
  std::optional<blame::Culprit> culprit() const { return culprit_; }
  // Returns whether what is loaded is a copy of the object, which nobody can
  // write into.
  bool runs_copy() const { return launched_copy_; }
  // Returns whether the object was loaded, so that a failure belongs to the
  // worker that counts the devices.
  bool probing() const { return probing_; }
  // The quarantine record because of which nothing was launched, if any.
  const std::optional<blame::QuarantineRecord>& quarantine() const {
    return quarantine_;
  }
  const std::vector<CountedDevice>& devices() const { return devices_; }
  const grants::Effective& granted() const { return granted_; }
  // Returns LibrariesChangedNs() of the time before the attempt.
  int64_t libraries_ns() const { return libraries_ns_; }
  const HashVerdicts& hash_verdicts() const { return hash_verdicts_; }
  // Says which files of the distribution the backend is not shown.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  kj::Promise<Status> Attempt();
  kj::Promise<Status> AttemptLocally();
  Granting Granted() const;
  // Checks that the object has the hash in RECORD or, if RECORD has no hash,
  // that the file has settled.
  kj::Promise<Status> VerifyComplete(int object);
  // Copies the object, unless nobody could load the copy or needs it, and
  // checks that what will be loaded has the hash in RECORD, if there is one.
  kj::Promise<Status> VerifyCopy(int object);
  // Returns the descriptor whose contents are loaded.
  int Loaded(int object) const {
    return object_copy_ ? object_copy_.get() : object;
  }
  // Fails if the object is quarantined. Lifts a record that does not hold any
  // more.
  kj::Promise<Status> CheckQuarantine(int object);
  // Checks the object against each of the granted hashes, from the last to the
  // first.
  kj::Promise<void> VerifyGrants(int object, std::vector<std::string> hashes);
  // Finds the files of the distribution, in steps between which the event loop
  // runs: packages decide how much there is to examine. Borrows `opened`.
  kj::Promise<Status> FindFiles(const discovery::OpenedBackend& opened);
  kj::Promise<Status> ExamineFiles(kj::TimePoint limit);
  Status Launch(discovery::OpenedBackend opened);
  kj::Promise<Status> Probe();
  Status Blaming(blame::Culprit culprit, Status status);
  // Blames the start, unless the zygote was lost or declined, or has not run
  // any code of the vendor. If it declined, adds that it cannot open files,
  // which may be why.
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
  std::optional<discovery::PackageFiles>
      own_files_;  // While they are examined.
  Diagnostics diagnostics_;
  grants::Effective granted_;
};

}  // namespace bulkhead::backend
