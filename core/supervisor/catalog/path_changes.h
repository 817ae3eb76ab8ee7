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

// Counts the changes of files on the plugin path. Has the directories read
// again once nothing more has changed for kSettlingTime, or after half a minute
// of changes.
//
// Bound to the event loop's thread.
class PathChanges {
 public:
  // The functions that are called for changes. A round begins with a change,
  // waits until the files settle, and then calls `ask`, `look` and `looked`.
  struct Listener {
    // Called at once, at each change.
    std::function<void()> changed;
    // Finds out which remote directories answer.
    std::function<kj::Promise<void>()> ask;
    // Reads the directories. A Note() during the call begins no new round.
    std::function<void()> look;
    // Called after `look`. A Note() during the call begins the next round.
    std::function<void()> looked;
  };

  // `tasks` must be destroyed before this object.
  PathChanges(kj::UnixEventPort& port, kj::TaskSet& tasks, Listener listener);
  KJ_DISALLOW_COPY(PathChanges);

  // Notes each change that the watch reports; never resolves.
  kj::Promise<void> Run();
  // See FileWatch::Watch and FileWatch::problem.
  void Watch(const std::set<std::string>& directories) {
    watch_.Watch(directories);
  }
  const std::optional<Diagnostic>& problem() const { return watch_.problem(); }

  // Notes a change, which the watch has reported or the caller has found.
  void Note();
  // The number of changes noticed so far.
  uint64_t count() const { return count_; }
  // Returns whether the directories are about to be read.
  bool settling() const { return settling_; }

 private:
  // Waits for kSettlingTime, up to `rounds_left` more times if files changed
  // meanwhile. Then calls the listener.
  kj::Promise<void> Settle(unsigned rounds_left);

  kj::Timer& timer_;
  kj::TaskSet& tasks_;
  const Listener listener_;
  FileWatch watch_;
  uint64_t count_ = 0;
  bool settling_ = false;  // true while Settle() runs
};

}  // namespace bulkhead::catalog
