// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/device_name.h"
#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/backend/start_context.h"

namespace bulkhead::catalog {

using BackendPointer = std::shared_ptr<backend::Backend>;

// The last attempt to replace a running backend by a successor: a new backend
// from the files that are installed now (hot_reload.h).
struct ReloadAttempt {
  discovery::BackendCandidate files;
  BackendPointer successor;  // null once the attempt is over
  std::string failure;       // why the old backend goes on
  std::optional<kj::ForkedPromise<Status>> outcome;
};

// The list of the backends of this bulkheadd, in order of precedence: if two
// backends have a device of the same name, the name alone means the device of
// the first. A backend that loses its place in the list drains: it takes no new
// sessions, and ends with its last one.
//
// Each search (plugin_search.h) finds candidates, which are distributions on
// disk. Update() brings the list into the order of the candidates:
// - A backend that does not run is replaced by one from the new files.
// - A backend that runs keeps its place, even if its files were removed.
//
// Bound to the event loop's thread; reads no file.
class BackendRoster {
 public:
  struct Entry {
    BackendPointer backend;
    // The files that are installed now; empty if they were removed.
    std::optional<discovery::BackendCandidate> present;
    ReloadAttempt attempt;
  };

  // `context` and `keeper` must outlive this object; `tasks` must be destroyed
  // before this object.
  BackendRoster(const backend::StartContext& context,
                backend::BackendKeeper& keeper, kj::TaskSet& tasks)
      : context_(context), keeper_(keeper), tasks_(tasks) {}

  // Takes the result of a search. `is_silent` returns whether a directory was
  // left out because it did not answer: its backends stay as they are.
  void Update(discovery::Discovery latest,
              const std::function<bool(const std::string&)>& is_silent);
  // Makes a backend, without giving it a place in the list.
  BackendPointer Make(const discovery::BackendCandidate& candidate);
  // Gives the place of an entry to its successor. The old backend drains.
  void Succeed(Entry& entry, BackendPointer successor);

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  // The result of the latest search. Its candidate i belongs to entry i.
  const discovery::Discovery& discovery() const { return discovery_; }
  // Returns the entry of the backend with that number, or null if the backend
  // has no place.
  Entry* InPlace(unsigned number);
  const Entry* EntryOf(const backend::Backend& backend) const;

  // Returns all backends; the draining ones come last.
  std::vector<BackendPointer> All() const;
  // Returns the backends whose candidate is neither disabled nor broken.
  std::vector<BackendPointer> Usable() const;
  // Returns the backend that has `device`; see discovery::FindBackend.
  Result<BackendPointer> Find(const DeviceName& device) const;
  // Returns the backend of the device if it starts or is ready, else null.
  BackendPointer Serving(const DeviceName& device) const;
  // Returns the backend called `name`. If there are several, returns the first
  // usable one.
  Result<BackendPointer> Named(const std::string& name) const;
  // Returns the backend that serves the session, or null.
  BackendPointer OfSession(uint64_t session) const;

 private:
  // Keeps a backend that lost its place until its last session has ended.
  void Drain(BackendPointer old);
  // Returns a number for a new backend. The backend's uid outside the sandbox
  // (sandbox::OutsideId) follows from the number. If possible, that uid differs
  // from the uids of all living backends.
  unsigned FreeNumber();

  const backend::StartContext& context_;
  backend::BackendKeeper& keeper_;
  kj::TaskSet& tasks_;
  discovery::Discovery discovery_;
  std::vector<Entry> entries_;
  std::vector<BackendPointer> draining_;
  // All living backends, including those that have no place yet.
  std::vector<std::weak_ptr<backend::Backend>> made_;
  unsigned next_number_ = 0;
};

}  // namespace bulkhead::catalog
