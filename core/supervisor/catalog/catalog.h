// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/scan_cache.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/catalog/file_watch.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Every backend that this bulkheadd knows of: what is on the plugin path, and
// what was loaded explicitly, with the lives of each.
//
// What is installed, repaired or removed while the application runs is noticed:
// the files are looked at again whenever something happens to them
// (file_watch.h) and was followed by kSettlingTime in which nothing did, when a
// backend would be started, a device is not there, or the backends are listed;
// what did not change is not read again (scan_cache.h).
//
// A backend whose files changed begins anew from them. If it runs, a successor
// is started from them beside it, and checked (health_check.h); then new
// sessions go to the successor and the old ones finish where they are, with
// which the old one ends. If the successor cannot be started or does not pass,
// the old one goes on, and the same files are only tried again on command. One
// whose files were removed goes on. One whose object was overwritten in place
// cannot: its zygote is ended at once, its sessions are replayed, and what is
// asked for meanwhile waits until the file is settled.
//
// Owned by Supervisor. Bound to the event loop's thread; reading the files of
// the plugin path blocks it.
class Catalog : private BackendKeeper, private kj::TaskSet::ErrorHandler {
 public:
  using BackendPointer = std::shared_ptr<Backend>;

  // `context` must outlive it.
  Catalog(std::vector<discovery::SearchDirectory> plugin_path,
          discovery::Selection selection, const StartContext& context);

  // The backend that `device` means; see discovery::FindBackend.
  Result<BackendPointer> Find(const discovery::DeviceName& device);

  // Registers the backends that an application named. They stay registered,
  // also those that turn out to be unusable; fails, with the reason, where one
  // is, or where there is none. Doing it twice changes nothing.
  Result<std::vector<BackendPointer>> Load(const std::string& path,
                                           const std::string& entry_point);

  // The backend of that name; of several, the one that is in use.
  Result<BackendPointer> Named(const std::string& name);
  // Operators' commands. Those that wait for a start resolve once it is over.
  kj::Promise<Status> Command(const std::string& name,
                              ipc::schema::BackendCommand::Action action);

  // Also those that drain, which come last.
  std::vector<BackendPointer> backends() const;
  std::vector<BackendPointer> Usable() const;
  // kUnsupported: by its manifest the backend does not decode such streams. The
  // message has the devices that do.
  Status CheckDecodes(const Backend& backend, discovery::StreamKind kind) const;
  BackendPointer OfSession(uint64_t session) const;

  // After another look.
  void Describe(sandbox::Tier tier, ipc::schema::Backends::Builder out);

 private:
  // What became of the files that are there now in place of a backend's own.
  struct Succession {
    discovery::BackendCandidate files;
    BackendPointer successor;  // null: it is over
    std::string failure;       // why the old one goes on
    uint64_t changes = 0;      // when it began
    kj::Maybe<kj::ForkedPromise<Status>> outcome;
  };

  kj::Promise<Status> StartSuccessor(unsigned number) override;
  void LookAgain() override { NoteChange(); }
  void Refresh();
  kj::Promise<Status> Reload(BackendPointer backend);
  // From the present files of one that runs. Joins what is under way.
  kj::Promise<Status> Replace(BackendPointer old);
  Status Conclude(const BackendPointer& old, const Status& checked);
  // Starts what is to replace those that run.
  void ReplaceChanged();
  // Serves, and its present files were not tried yet.
  bool IsToBeReplaced(const Backend& backend) const;
  void Drain(BackendPointer old);
  BackendPointer MakeBackend(const discovery::BackendCandidate& candidate);
  // So that no two have one id outside of the sandbox.
  unsigned FreeNumber();
  // Why one that runs is not what is installed; empty if it is.
  std::string NoticeOf(const Backend& backend) const;
  void WatchFiles();
  kj::Promise<void> AwaitChanges();
  void NoteChange();
  kj::Promise<void> Settle(unsigned rounds_left);
  void taskFailed(kj::Exception&& exception) override;
  BackendPointer BackendOf(const discovery::BackendCandidate* candidate) const;

  const std::vector<discovery::SearchDirectory> plugin_path_;
  const discovery::Selection selection_;
  const StartContext& context_;
  discovery::ScanCache cache_;
  std::vector<discovery::ExplicitLoad> loads_;
  discovery::Discovery discovery_;
  std::vector<BackendPointer> backends_;  // As discovery_.backends.
  std::vector<BackendPointer> draining_;
  // The files that are there now, of those of backends_ that have some.
  std::map<const Backend*, discovery::BackendCandidate> present_;
  std::map<const Backend*, Succession> successions_;
  unsigned next_number_ = 0;
  FileWatch watch_;
  uint64_t changes_ = 0;
  bool settling_ = false;
  // Last member: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
