// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "core/include/bulkhead/diagnostic.h"
#include "core/supervisor/catalog/file_watch.h"

namespace bulkhead::catalog {

// The changes on the plugin path: counts those that are noticed, and has the
// directories read again once nothing more has changed for kSettlingTime, or
// after half a minute of changes.
//
// Bound to the event loop's thread.
class PathChanges {
 public:
  struct Listener {
    // Called at once, at each change.
    std::function<void()> changed;
    // Asks whether the directories answer.
    std::function<kj::Promise<void>()> ask;
    // Reads the directories. Changes that it finds begin no other round.
    std::function<void()> look;
    // Called after `look`. Changes that it notes begin the next round.
    std::function<void()> looked;
  };

  // `tasks` must be destroyed before this object.
  PathChanges(kj::UnixEventPort& port, kj::TaskSet& tasks, Listener listener);
  KJ_DISALLOW_COPY(PathChanges);

  // Notes what happens to files of the watched directories; never resolves.
  kj::Promise<void> Run();
  // See FileWatch::Watch and FileWatch::problem.
  void Watch(const std::set<std::string>& directories) {
    watch_.Watch(directories);
  }
  const std::optional<Diagnostic>& problem() const { return watch_.problem(); }

  // Notes a change that the caller has found itself.
  void Note();
  // The number of changes noticed so far.
  uint64_t count() const { return count_; }
  // Returns whether a look is to come.
  bool settling() const { return settling_; }

 private:
  kj::Promise<void> Settle(unsigned rounds_left);

  kj::Timer& timer_;
  kj::TaskSet& tasks_;
  const Listener listener_;
  FileWatch watch_;
  uint64_t count_ = 0;
  bool settling_ = false;  // true while Settle() runs
};

}  // namespace bulkhead::catalog
