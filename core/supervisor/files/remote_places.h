// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::files {

// Keeps this process from reading directories that do not answer. A remote file
// system, which another program or machine serves (FUSE, NFS), can make a
// reader wait for ever. Even SIGKILL may not end such a wait. Backends may be
// installed there, and requests for other backends must not wait for them.
//
//   RemotePlaces places(port);
//   places.Ask("/net/site-packages", [] { Read("/net/..."); })
//       .then([](bool answers) { if (answers) Read("/net/..."); });
//
// A child process first reads the files that this process is about to read. As
// long as the child gets answers, it may take a minute: a sound server can be
// slow. A child that is stuck is left behind, and holds no descriptor of this
// process. Its path is not asked again until the child has ended, so there is
// at most one child for each path. If the directory stops answering between the
// reads of the two processes, this process hangs.
//
// A path is remote if the type of its file system says so (MountTable).
//
// Bound to the event loop's thread. Its promises must not outlive it.
class RemotePlaces : private kj::TaskSet::ErrorHandler {
 public:
  explicit RemotePlaces(kj::UnixEventPort& port);
  // For tests, which say themselves which paths are remote.
  RemotePlaces(kj::UnixEventPort& port,
               std::function<bool(const std::string&)> is_remote);
  ~RemotePlaces() noexcept(false);
  KJ_DISALLOW_COPY(RemotePlaces);

  // Calls `read` in a child process. Resolves to true once `read` has returned,
  // and to false if it makes no progress for two seconds or is not done within
  // a minute. `read` must open its files itself: the child has no descriptor of
  // this process.
  //
  // For a path that is not remote, resolves to true without calling `read`.
  // Joins a call for the same path that is under way, whatever its `read` does.
  // Resolves to false at once for some seconds after the path did not answer.
  kj::Promise<bool> Ask(const std::string& path,
                        const std::function<void()>& read);
  // Returns the result of the last Ask() for `path`, or false if there was none
  // or it is under way. Returns true for a path that is not remote.
  bool Answered(const std::string& path) const;

 private:
  // The state of one remote path.
  struct Place {
    bool answered = false;
    kj::TimePoint ask_again = kj::origin<kj::TimePoint>();
    // The pid and the pidfd of the child, which reads or is stuck. `end`
    // observes the pidfd.
    pid_t pid = 0;
    ipc::UniqueFd child;
    std::optional<kj::UnixEventPort::FdObserver> end;
    kj::Maybe<kj::ForkedPromise<bool>> under_way;
  };

  // Resolves to whether the child has ended by itself.
  kj::Promise<bool> AwaitAnswer(Place& place);
  // Resolves to false once the child has made no progress for a round of
  // kPatience, or no round is left. A child makes progress if its count of
  // context switches grows; `switches` is the count at the last round.
  kj::Promise<bool> AwaitSilence(const Place& place, uint64_t switches,
                                 int rounds_left);
  // Kills the child without waiting, and reaps it if it ever ends.
  void LeaveBehind(Place& place);
  void taskFailed(kj::Exception&& exception) override;

  kj::UnixEventPort& port_;
  const std::function<bool(const std::string&)> is_remote_;
  std::map<std::string, Place> places_;
  kj::TaskSet stuck_;  // waits for the ends of children that were left behind
};

}  // namespace bulkhead::files
