// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/installed_files.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::supervisor {

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
// replaced cannot be loaded any more, and files that were written are not those
// that were verified.
//
// Shared by BackendStart and the launches for sessions. Bound to the event
// loop's thread.
class BackendLaunch {
 public:
  // Checks `files` again, which are those of the distribution
  // (installed_files.h). `candidate` and `context` are borrowed. `number` is
  // unique among the backends. `object_copy` is the copy that is loaded, if
  // there is one (object_verification.h).
  static Result<std::shared_ptr<BackendLaunch>> Prepare(
      const discovery::BackendCandidate& candidate, unsigned number,
      const StartContext& context, discovery::OpenedBackend opened,
      ipc::UniqueFd object_copy, std::vector<discovery::OwnFile> files,
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
                std::vector<discovery::OwnFile> own_files,
                grants::Effective granted);
  Result<std::vector<SeenFile>> CheckFiles(
      const discovery::OpenedBackend& opened) const;

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  const discovery::OpenedBackend opened_;
  const ipc::UniqueFd object_copy_;
  const std::vector<discovery::OwnFile> own_files_;
  const grants::Effective granted_;
  std::vector<SeenFile> files_;  // set by Prepare()
};

// Returns the absolute path of the backend's shared object.
std::string ObjectPath(const discovery::BackendCandidate& candidate);
// Returns whether each session loads the backend anew.
bool StartsByExec(const discovery::BackendCandidate& candidate);
// Returns whether all sessions share one worker.
bool SharesWorker(const discovery::BackendCandidate& candidate);

}  // namespace bulkhead::supervisor
