// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/package_files.h"
#include "core/grants/grant_reader.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/blame/disabled_backends.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/files/libexec_program.h"
#include "core/supervisor/files/remote_places.h"
#include "core/supervisor/records/crash_recorder.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "core/supervisor/records/killed_workers.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/held_files.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/task_limits.h"

namespace bulkhead::backend {

// The settings and services with which every backend of this bulkheadd is
// started. Owned by StartServices.
struct StartContext {
  kj::UnixEventPort& port;
  files::RemotePlaces& places;
  int application_pidfd;
  files::LibexecProgram reaper;
  files::LibexecProgram worker;
  std::chrono::milliseconds start_deadline;
  std::chrono::milliseconds worker_deadline;
  uint32_t attempts_per_position;
  uint32_t failures_per_backend;
  sandbox::Tier tier;
  bool own_uid;  // true if each backend can run under a uid of its own
  sandbox::Reach reach() const {
    return {.own_uid = own_uid, .own_root = tier == sandbox::Tier::kFull};
  }
  sandbox::Forbidden forbidden;
  bool reads_memory;  // SandboxReport::reads_memory
  sandbox::HeldParts& held_parts;
  const sandbox::TaskLimits& task_limits;
  sandbox::CgroupParent cgroup;  // the parent of the backends' cgroups
  grants::GrantReader& grants;
  blame::QuarantineRecords& quarantine;
  blame::DisabledBackends& disabled;
  records::EventLog& events;
  records::CrashRecorder& crashes;
  records::KilledWorkers& killed;
  EndingReapers& ending;
  const DecodingCheck& decoding;
  const records::HostCounters& counters;
  records::KeptCounts& counts;
  // Says of a distribution whether a life of one of its backends had media.
  std::map<std::string, bool>& met_media;
};

// Launches processes with the files that one start of a backend has verified
// and the grants that it had. A start launches once. If each session loads the
// backend anew (discovery::Manifest::Start::kExec), every session launches once
// more, and all of them load the same: the object stays open from its
// verification on, and the sandbox shows the inodes that were checked before
// the first launch.
//
//   ASSIGN_OR_RETURN(auto launch, BackendLaunch::Prepare(...));
//   ASSIGN_OR_RETURN(auto incarnation, launch->Launch());
//
// Whoever launches later than at the start asks HasChanged() before and after
// the load: a sandbox finds its files by their paths, so files that were
// replaced cannot be loaded any more, and files that were written are not the
// verified ones.
//
// Shared by BackendStart and the launches for sessions. Bound to the event
// loop's thread.
class BackendLaunch {
 public:
  // Checks `files`, the distribution's (package_files.h), again. `candidate`
  // and `context` are borrowed. `number` is unique among the backends.
  // `object_copy` is the copy that is loaded, if there is one
  // (object_verification.h).
  static Result<std::shared_ptr<BackendLaunch>> Prepare(
      const discovery::BackendCandidate& candidate, unsigned number,
      const StartContext& context, discovery::OpenedBackend opened,
      ipc::UniqueFd object_copy, std::vector<discovery::PackageFile> files,
      grants::Effective granted);
  BackendLaunch(const BackendLaunch&) = delete;
  BackendLaunch& operator=(const BackendLaunch&) = delete;

  // Launches a reaper, which starts a zygote. Blocks as sandbox::Launch does.
  Result<std::shared_ptr<Incarnation>> Launch() const;
  // Resolves to whether a file was written, replaced or removed since
  // Prepare(), or lies where nothing answers any more. `launch` is kept alive
  // meanwhile.
  static kj::Promise<bool> HasChanged(
      std::shared_ptr<const BackendLaunch> launch);

 private:
  struct SeenFile {
    sandbox::Plugin::File file;
    int64_t bytes;
    int64_t modified_ns;

    bool operator==(const SeenFile& other) const;
  };

  BackendLaunch(const discovery::BackendCandidate& candidate, unsigned number,
                const StartContext& context, discovery::OpenedBackend opened,
                ipc::UniqueFd object_copy,
                std::vector<discovery::PackageFile> own_files,
                grants::Effective granted);
  Result<std::vector<SeenFile>> CheckFiles(
      const discovery::OpenedBackend& opened) const;

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  const discovery::OpenedBackend opened_;
  const ipc::UniqueFd object_copy_;
  const std::vector<discovery::PackageFile> own_files_;
  const grants::Effective granted_;
  std::vector<SeenFile> files_;  // set by Prepare()
};

// Returns the absolute path of the backend's shared object.
std::string ObjectPath(const discovery::BackendCandidate& candidate);
// Returns whether each session loads the backend anew.
bool StartsByExec(const discovery::BackendCandidate& candidate);
// Returns whether all sessions share one worker.
bool SharesWorker(const discovery::BackendCandidate& candidate);

}  // namespace bulkhead::backend
