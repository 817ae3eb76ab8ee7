// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/include/bulkhead/diagnostic.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Tells that something in one of some directories was written, made, renamed or
// removed; not what: whoever is told looks again.
//
//   FileWatch watch(port);
//   watch.Watch({"/usr/lib/bulkhead"});
//   watch.WhenChanged().then(...)
//
// At most kMaxDirectories are watched, of which what lies below is not. Where
// the kernel gives no watch (its limit for this user is reached, a file system
// over a network tells nothing of what others do), changes there are not told,
// and problem() says so: they are seen when somebody looks for another reason.
// A directory that does not exist yet is tried again at the next Watch().
//
// Bound to the event loop's thread; never blocks.
class FileWatch {
 public:
  static constexpr size_t kMaxDirectories = 512;

  explicit FileWatch(kj::UnixEventPort& port);
  KJ_DISALLOW_COPY(FileWatch);

  // These from now on, and no others.
  void Watch(const std::set<std::string>& directories);
  // One at a time.
  kj::Promise<void> WhenChanged();
  const std::optional<Diagnostic>& problem() const { return problem_; }

 private:
  // Whether anything was told.
  bool ReadEvents();
  void Note(const std::string& directory, const std::string& message);

  const ipc::UniqueFd inotify_;
  std::optional<kj::UnixEventPort::FdObserver> observer_;  // none: no inotify
  std::map<std::string, int> watches_;
  std::optional<Diagnostic> problem_;
};

}  // namespace bulkhead::supervisor
