// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/catalog/backend_roster.h"
#include "core/supervisor/catalog/hot_reload.h"
#include "core/supervisor/catalog/path_changes.h"
#include "core/supervisor/catalog/plugin_search.h"

namespace bulkhead::catalog {

// The backends that this bulkheadd knows: those on the plugin path and those
// that were loaded explicitly. Decides when their files are read, and owns the
// parts that do the work: the search (plugin_search.h), its result
// (backend_roster.h), the watch for changes (path_changes.h), and the
// replacement of backends that run (hot_reload.h).
//
// Notices backends that are installed, repaired or removed while the
// application runs. The files are read again after a change, once nothing more
// has changed for kSettlingTime. They are also read again when a backend is
// about to be started, a device is not found, or the backends are listed.
//
// A request for a device of Bulkhead's own backends does not wait until other
// vendors' directories are read. The other directories are first read when
// another device is requested, the backends are listed, or a backend is loaded
// explicitly. With autoload off they are not read at all.
//
// When the files of a backend change:
// - A backend that does not run is replaced at once by one from the new files.
// - For a backend that runs, a successor is started and checked.
// - A backend that runs and whose files were removed goes on.
// - A backend that is loaded anew for each session (start = "exec") cannot go
//   on without its files: a session waits for the successor, and fails if there
//   is none.
// - If the object was overwritten in place and the zygote runs no copy of it,
//   the zygote is ended at once. Its sessions are replayed. Requests wait until
//   the file has settled.
//
// Await AskPlaces() before a call that reads all directories. The backends of a
// directory that did not answer stay as they were.
//
// Owned by ApplicationRequests. Bound to the event loop's thread; reading the
// files of the plugin path blocks it.
class Catalog : private backend::BackendKeeper,
                private kj::TaskSet::ErrorHandler {
 public:
  // `context` must outlive this object.
  Catalog(std::vector<discovery::SearchDirectory> plugin_path,
          discovery::Selection selection, const backend::StartContext& context);

  // Asks remote directories whether they answer, before they are read: all of
  // them, or only those that Find(device) reads. Resolves once each has
  // answered or is known to be silent.
  kj::Promise<void> AskPlaces() { return search_.AskPlaces(); }
  kj::Promise<void> AskPlaces(const DeviceName& device);

  // Resolves once all directories of the plugin path have been read at least
  // once.
  kj::Promise<void> LookEverywhere();
  // Reads the files of all directories again.
  void Refresh() { Refresh(PluginSearch::Reach::kEverywhere); }
  // Does the same in up to four searches: one search reads only part of a very
  // full directory, and the next one continues there.
  void RefreshAll();

  // Returns the backend that has `device`; see discovery::FindBackend.
  Result<BackendPointer> Find(const DeviceName& device);

  // Registers the backends of the distribution at `path`, or only the one
  // called `entry_point`. Fails, with the reason, if one of them is unusable or
  // there is none. Unusable backends stay registered too. Loading the same
  // distribution again changes nothing.
  kj::Promise<Result<std::vector<BackendPointer>>> Load(
      const std::string& path, const std::string& entry_point);

  // Returns the backend that was called `name` at the last search. If several
  // backends have that name, returns the first usable one.
  Result<BackendPointer> Named(const std::string& name) const {
    return roster_.Named(name);
  }
  // Returns all backends; the draining ones come last.
  std::vector<BackendPointer> backends() const { return roster_.All(); }
  std::vector<BackendPointer> Usable() const { return roster_.Usable(); }
  // Returns the backend that serves the session, or null.
  BackendPointer OfSession(uint64_t session) const {
    return roster_.OfSession(session);
  }
  // See HotReload::NoticeOf.
  std::string NoticeOf(const backend::Backend& backend) const {
    return reload_.NoticeOf(backend);
  }
  // The result of the latest search.
  const discovery::Discovery& discovery() const { return roster_.discovery(); }
  // The reason why changes of files are not noticed; empty if they are.
  const std::optional<Diagnostic>& watch_problem() const {
    return changes_.problem();
  }

 private:
  kj::Promise<Status> StartSuccessor(unsigned number) override {
    return reload_.Replace(number);
  }
  kj::Promise<Status> NeedSuccessor(unsigned number) override;
  void LookAgain() override { changes_.Note(); }

  void Refresh(PluginSearch::Reach reach);
  // Returns the backends of a distribution that was loaded from `path`.
  Result<std::vector<BackendPointer>> LoadedBy(
      const PluginSearch::Loaded& loaded, const std::string& path);
  // Returns the functions that PathChanges calls: `changed` at each change, the
  // others in their order once the files have settled.
  PathChanges::Listener MakeListener();
  // Ends the zygotes whose object was overwritten in place.
  void EndOverwritten();
  void taskFailed(kj::Exception&& exception) override;

  PluginSearch search_;
  PathChanges changes_;
  BackendRoster roster_;
  HotReload reload_;
  // Last member, so that it is destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::catalog
