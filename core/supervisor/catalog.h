// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/scan_cache.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Every backend that this bulkheadd knows of: what is on the plugin path, and
// what was loaded explicitly, with the lives of each.
//
// What is installed, repaired or removed while the application runs is noticed:
// the files are looked at again whenever a backend would be started, a device
// is not there, or the backends are listed; what did not change is not read
// again (scan_cache.h). A backend whose files changed
// begins anew from them, unless it runs: then it goes on with those that it
// started from until its zygote and its sessions have ended.
//
// Owned by Supervisor. Bound to the event loop's thread; reading the files of
// the plugin path blocks it.
class Catalog {
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

  const std::vector<BackendPointer>& backends() const { return backends_; }
  std::vector<BackendPointer> Usable() const;
  BackendPointer OfSession(uint64_t session) const;

  // After another look.
  void Describe(sandbox::Tier tier, ipc::schema::Backends::Builder out);

 private:
  void Refresh();
  kj::Promise<Status> Reload(BackendPointer backend);
  BackendPointer BackendOf(const discovery::BackendCandidate* candidate) const;

  const std::vector<discovery::SearchDirectory> plugin_path_;
  const discovery::Selection selection_;
  const StartContext& context_;
  discovery::ScanCache cache_;
  std::vector<discovery::ExplicitLoad> loads_;
  discovery::Discovery discovery_;
  std::vector<BackendPointer> backends_;  // As discovery_.backends.
  unsigned next_number_ = 0;
};

}  // namespace bulkhead::supervisor
