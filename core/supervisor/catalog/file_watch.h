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

namespace bulkhead::catalog {

// A watch (inotify) on a set of directories. Reports that some file in one of
// them was written, made, renamed or removed. The report does not name the
// file; the caller reads the directories again.
//
//   FileWatch watch(port);
//   watch.Watch({"/usr/lib/bulkhead"});
//   watch.WhenChanged().then(...)
//
// Watches at most kMaxDirectories, without their subdirectories. If the kernel
// refuses a watch because the user's limit is reached, changes are not reported
// and problem() says so. Network file systems do not report changes by other
// machines. The caller sees such changes when it reads the directory for
// another reason. If a directory did not exist, the next Watch() tries again.
//
// Bound to the event loop's thread; never blocks.
class FileWatch {
 public:
  static constexpr size_t kMaxDirectories = 512;

  explicit FileWatch(kj::UnixEventPort& port);
  KJ_DISALLOW_COPY(FileWatch);

  // Watches exactly these directories from now on.
  void Watch(const std::set<std::string>& directories);
  // Resolves after a change. Call it again only after it has resolved.
  kj::Promise<void> WhenChanged();
  const std::optional<Diagnostic>& problem() const { return problem_; }

 private:
  // Takes all pending events, and returns whether one was a change.
  bool ReadEvents();
  void Note(const std::string& directory, const std::string& message);

  const ipc::UniqueFd inotify_;
  // Empty if there is no inotify.
  std::optional<kj::UnixEventPort::FdObserver> observer_;
  std::map<std::string, int> watches_;
  std::optional<Diagnostic> problem_;
};

}  // namespace bulkhead::catalog
