// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend_launch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/status_macros.h"
#include "core/discovery/file_identity.h"
#include "core/discovery/package_file_opening.h"
#include "core/supervisor/backend/granting.h"
#include "core/supervisor/backend/shared_worker.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/lockdown.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "ipc/deadline.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {
namespace {

// The descriptors that a worker needs for one session: the socket, five for
// memory and media, and those that a scan opens.
constexpr uint64_t kDescriptorsPerSession = 10;

Status CannotExamine(const std::string& path) {
  return Status(Code::kBackendUnavailable,
                path + ": " + std::generic_category().message(errno));
}

}  // namespace

std::string ObjectPath(const discovery::BackendCandidate& candidate) {
  return candidate.directory + "/" + candidate.plugin_path;
}

bool StartsByExec(const discovery::BackendCandidate& candidate) {
  return candidate.start == discovery::Manifest::Start::kExec;
}

bool SharesWorker(const discovery::BackendCandidate& candidate) {
  return candidate.manifest.worker_scope ==
             discovery::Manifest::WorkerScope::kBackend &&
         !StartsByExec(candidate);
}

bool BackendLaunch::SeenFile::operator==(const SeenFile& other) const {
  return file.path == other.file.path && file.identity == other.file.identity &&
         bytes == other.bytes && modified_ns == other.modified_ns;
}

BackendLaunch::BackendLaunch(const discovery::BackendCandidate& candidate,
                             unsigned number, const StartContext& context,
                             discovery::OpenedBackend opened,
                             ipc::UniqueFd object_copy,
                             std::vector<discovery::PackageFile> own_files,
                             grants::Effective granted)
    : candidate_(candidate),
      number_(number),
      context_(context),
      opened_(std::move(opened)),
      object_copy_(std::move(object_copy)),
      own_files_(std::move(own_files)),
      granted_(std::move(granted)) {}

Result<std::shared_ptr<BackendLaunch>> BackendLaunch::Prepare(
    const discovery::BackendCandidate& candidate, unsigned number,
    const StartContext& context, discovery::OpenedBackend opened,
    ipc::UniqueFd object_copy, std::vector<discovery::PackageFile> files,
    grants::Effective granted) {
  std::shared_ptr<BackendLaunch> launch(new BackendLaunch(
      candidate, number, context, std::move(opened), std::move(object_copy),
      std::move(files), std::move(granted)));
  ASSIGN_OR_RETURN(launch->files_, launch->CheckFiles(launch->opened_));
  return launch;
}

Result<std::vector<BackendLaunch::SeenFile>> BackendLaunch::CheckFiles(
    const discovery::OpenedBackend& opened) const {
  struct stat object = {};
  if (fstat(opened.plugin.get(), &object) != 0) {
    return CannotExamine(ObjectPath(candidate_));
  }
  std::vector<SeenFile> files;
  for (const auto& [path, hashed] : own_files_) {
    const auto file =
        discovery::OpenPackageFile(opened.directory.get(), path, object);
    if (!file) {
      return Status(
          Code::kBackendUnavailable,
          file.error().message() + "; reinstall the package that has it");
    }
    struct stat info = {};
    if (fstat(file->get(), &info) != 0) return CannotExamine(path);
    if (hashed && *hashed != discovery::IdentityOf(info)) {
      return Status(Code::kBackendUnavailable,
                    path +
                        " has changed since it was compared with RECORD; "
                        "try again when it is complete");
    }
    files.push_back(
        {.file = {candidate_.directory + "/" + path,
                  sandbox::IdentityOf(file->get())},
         .bytes = info.st_size,
         .modified_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 +
                        info.st_mtim.tv_nsec});
  }
  return files;
}

kj::Promise<bool> BackendLaunch::HasChanged(
    std::shared_ptr<const BackendLaunch> launch) {
  // Reading may hang on a remote file system, so a child process tries it
  // first. Only whether the child returns matters; the files are compared
  // below. The child has none of our descriptors, so it opens the files by
  // their paths.
  const auto read = [&] {
    const auto opened = discovery::OpenBackend(launch->candidate_);
    if (opened) (void)launch->CheckFiles(*opened);
  };
  return launch->context_.places.Ask(ObjectPath(launch->candidate_), read)
      .then([launch](bool answers) {
        if (!answers) return true;
        const auto now = launch->CheckFiles(launch->opened_);
        return !now || *now != launch->files_;
      });
}

Result<std::shared_ptr<Incarnation>> BackendLaunch::Launch() const {
  ASSIGN_OR_RETURN(const ipc::UniqueFd reaper, context_.reaper.Open());
  ASSIGN_OR_RETURN(const ipc::UniqueFd worker, context_.worker.Open());
  sandbox::Plugin plugin{.object_path = ObjectPath(candidate_),
                         .entry_symbol = candidate_.entry_point.attr};
  for (const SeenFile& seen : files_) {
    plugin.files.push_back(seen.file);
    if (object_copy_ && seen.file.path == plugin.object_path) {
      plugin.files.back().contents = object_copy_.get();
    }
  }
  std::vector<std::string> problems;  // DescribeGrants() shows them
  const sandbox::Grants grants = Resolve(granted_, problems);
  ASSIGN_OR_RETURN(sandbox::Policy policy, sandbox::MakePolicy(plugin, grants));
  if (SharesWorker(candidate_)) {
    // The limits are meant for one session; this worker serves many.
    policy.limits.open_files +=
        SharedWorker::kMaxSessions * kDescriptorsPerSession;
    policy.limits.address_space_bytes *= 4;
    policy.fixed_descriptors = false;
  }
  sandbox::RaiseLimits(grants, policy.limits);
  policy.limits.tasks =
      std::min(policy.limits.tasks, context_.task_limits.ForOneBackend());
  ASSIGN_OR_RETURN(
      const ipc::UniqueFd lockdown,
      sandbox::CompileLockdown(policy, plugin, context_.forbidden));
  ASSIGN_OR_RETURN(
      auto launched,
      sandbox::Launch(
          {.tier = context_.tier,
           .policy = policy,
           .reaper_executable = reaper.get(),
           .worker_executable = worker.get(),
           .plugin = opened_.plugin.get(),
           .lockdown = lockdown.get(),
           .application = context_.application_pidfd,
           .outside_id = context_.own_uid ? std::optional(sandbox::OutsideId(
                                                ::getpid(), number_))
                                          : std::nullopt,
           .cgroup = &context_.cgroup,
           .deadline = ipc::Deadline::After(context_.start_deadline)}));
  auto session = sandbox::SessionLockdownOf(policy, context_.forbidden);
  const sandbox::LoadedMemory loading{.most_bytes = policy.limits.load_bytes,
                                      .maps_devices = !session.devices.empty()};
  sandbox::ExpectedCalls expected(std::move(session), context_.reads_memory,
                                  context_.held_parts);
  auto incarnation = std::make_shared<Incarnation>(
      context_.port, std::move(launched), context_.forbidden,
      std::move(expected), loading, context_.ending,
      context_.met_media[candidate_.dist_info]);
  incarnation->set_most_tasks(policy.limits.tasks);
  return incarnation;
}

}  // namespace bulkhead::backend
