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

// Tells that something in a set of directories was written, made, renamed or
// removed. It does not tell what changed; the caller reads the directories
// again.
//
//   FileWatch watch(port);
//   watch.Watch({"/usr/lib/bulkhead"});
//   watch.WhenChanged().then(...)
//
// At most kMaxDirectories are watched, and their subdirectories are not. Where
// the kernel gives no watch (the user's limit is reached) changes are not told,
// and problem() says so. Network file systems tell nothing about what other
// machines do. Such changes are seen when somebody reads the directory for
// another reason. A directory that does not exist yet is tried again at the
// next Watch().
//
// Bound to the event loop's thread; never blocks.
class FileWatch {
 public:
  static constexpr size_t kMaxDirectories = 512;

  explicit FileWatch(kj::UnixEventPort& port);
  KJ_DISALLOW_COPY(FileWatch);

  // Watches these directories from now on, and no others.
  void Watch(const std::set<std::string>& directories);
  // Resolves after a change. Call it once at a time.
  kj::Promise<void> WhenChanged();
  const std::optional<Diagnostic>& problem() const { return problem_; }

 private:
  // Takes all events; returns whether there were any.
  bool ReadEvents();
  void Note(const std::string& directory, const std::string& message);

  const ipc::UniqueFd inotify_;
  // Empty if there is no inotify.
  std::optional<kj::UnixEventPort::FdObserver> observer_;
  std::map<std::string, int> watches_;
  std::optional<Diagnostic> problem_;
};

}  // namespace bulkhead::supervisor
