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

// Keeps every backend that this bulkheadd knows: those on the plugin path and
// those that were loaded explicitly. Owns the search (plugin_search.h), its
// result (backend_roster.h), the changes of files (path_changes.h) and what
// follows for backends that run (hot_reload.h), and decides when the files are
// read.
//
// Notices backends that are installed, repaired or removed while the
// application runs. The files are read again after a change, once nothing more
// has changed for kSettlingTime. They are also read again when a backend is
// about to be started, a device is not found, or the backends are listed.
//
// Whoever asks for a device of Bulkhead's own gets it without a look at what
// strangers have installed: those directories are read half a second after the
// start, or when another device is asked for, the backends are listed or one is
// loaded. With autoload off they are not read at all.
//
// When the files of a backend change:
// - A backend that does not run is replaced at once by one from the new files.
// - For a backend that runs, a successor is tried (hot_reload.h).
// - A backend that runs and whose files were removed goes on.
// - A backend whose sessions load it anew cannot go on without its files: a
//   session waits for the successor, and fails if there is none.
// - If the object was overwritten in place and the zygote runs no copy of it,
//   the zygote is ended at once and the sessions are replayed. Requests wait
//   until the file has settled.
//
// Whoever wants a look at all directories awaits AskPlaces() first. If one did
// not answer, what is known of it stays as it was.
//
// Owned by ApplicationRequests. Bound to the event loop's thread; reading the
// files of the plugin path blocks it.
class Catalog : private backend::BackendKeeper,
                private kj::TaskSet::ErrorHandler {
 public:
  // `context` must outlive this object.
  Catalog(std::vector<discovery::SearchDirectory> plugin_path,
          discovery::Selection selection, const backend::StartContext& context);

  // Asks whether the directories that are about to be read, for a look at all
  // of them or for `device`, answer. Resolves once each has, or will not.
  kj::Promise<void> AskPlaces() { return search_.AskPlaces(); }
  kj::Promise<void> AskPlaces(const DeviceName& device);

  // Reads all directories of the plugin path unless that was done before.
  // Resolves once that is done.
  kj::Promise<void> LookEverywhere();
  // Reads the files again.
  void Refresh() { Refresh(PluginSearch::Reach::kEverywhere); }
  // Does as Refresh(), in several searches if directories are very full: what
  // fills a directory hides no backend beyond it.
  void RefreshAll();

  // Returns the backend that has `device`; see discovery::FindBackend.
  Result<BackendPointer> Find(const DeviceName& device);

  // Registers the backends of a distribution that the application names. Fails,
  // with the reason, if one of them is unusable or there is none. Unusable
  // backends stay registered too. Loading the same distribution again changes
  // nothing.
  kj::Promise<Result<std::vector<BackendPointer>>> Load(
      const std::string& path, const std::string& entry_point);

  // Returns the backend that was called `name` at the last look. If several
  // backends have that name, returns the usable one.
  Result<BackendPointer> Named(const std::string& name) const {
    return roster_.Named(name);
  }
  // Returns all backends; those that drain come last.
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
  // The latest search.
  const discovery::Discovery& discovery() const { return roster_.discovery(); }
  // Says why changes of files are not noticed.
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
  Result<std::vector<BackendPointer>> LoadedBy(
      const PluginSearch::Loaded& loaded, const std::string& path);
  PathChanges::Listener WhatFollowsChanges();
  void EndOverwritten();
  void taskFailed(kj::Exception&& exception) override;

  PluginSearch search_;
  PathChanges changes_;
  BackendRoster roster_;
  HotReload reload_;
  // Last member, and destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::catalog
