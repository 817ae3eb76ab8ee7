// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/package_files.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// Launches reapers and zygotes with the files and grants of one start of a
// backend. BackendStart has verified the files, and launches once. With
// start = "exec" (StartsByExec), each session launches once more with the same
// files: the vendor's shared object stays open after its verification, and the
// sandbox shows only the inodes that were examined before the first launch.
//
//   ASSIGN_OR_RETURN(auto launch, BackendLaunch::Prepare(...));
//   ASSIGN_OR_RETURN(auto incarnation, launch->Launch());
//
// SessionLaunches calls HasChanged() before and after the zygote loads the
// object. This is necessary because the sandbox finds files by their paths. A
// file that was replaced cannot be loaded, and a file that was written into no
// longer has the verified contents.
//
// Shared by BackendStart and SessionLaunches. Bound to the event loop's thread.
class BackendLaunch {
 public:
  // Opens and examines `files`, the files of the distribution
  // (package_files.h), and keeps what it saw for HasChanged(). `candidate` and
  // `context` are borrowed. `number` is unique among the backends.
  // `object_copy` is the sealed copy that is loaded instead of the object; it
  // may be empty (object_verification.h).
  static Result<std::shared_ptr<BackendLaunch>> Prepare(
      const discovery::BackendCandidate& candidate, unsigned number,
      const StartContext& context, discovery::OpenedBackend opened,
      ipc::UniqueFd object_copy, std::vector<discovery::PackageFile> files,
      grants::Effective granted);
  BackendLaunch(const BackendLaunch&) = delete;
  BackendLaunch& operator=(const BackendLaunch&) = delete;

  // Launches a reaper, which starts a zygote. Blocks for some 10 ms.
  Result<std::shared_ptr<Incarnation>> Launch() const;
  // Resolves to true if a file was written, replaced or removed since
  // Prepare(), or if its file system does not answer any more. Keeps `launch`
  // alive until then.
  static kj::Promise<bool> HasChanged(
      std::shared_ptr<const BackendLaunch> launch);

 private:
  // A file as Prepare() saw it.
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
  // Opens and examines each file. Fails if a file is missing, or changed after
  // it was compared with RECORD.
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
