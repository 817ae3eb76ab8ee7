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

// Keeps this process from directories that do not answer. A file system that
// another program or machine serves (FUSE, NFS) can leave whoever reads it
// waiting for ever, and SIGKILL may not end that. Packages lie on such file
// systems too, and nobody who asks for another backend should wait for them.
//
//   RemotePlaces places(port);
//   places.Ask("/net/site-packages", [] { Read("/net/..."); })
//       .then([](bool answers) { if (answers) Read("/net/..."); });
//
// A child process reads first what this one is about to read. While it gets
// answers, it may take a minute: a sound server can be slow. A child that is
// stuck is left alone, holds no descriptor of ours, and nobody asks for its
// path again until it has ended: so there is one at most for each path. A
// directory that stops answering between the two reads is not noticed.
//
// A place is remote by the type of its file system; symbolic links are
// followed as far as this machine answers.
//
// Bound to the event loop's thread, and outlived by no promise that it gave.
class RemotePlaces : private kj::TaskSet::ErrorHandler {
 public:
  explicit RemotePlaces(kj::UnixEventPort& port);
  // Tests say themselves which paths are remote.
  RemotePlaces(kj::UnixEventPort& port,
               std::function<bool(const std::string&)> is_remote);
  ~RemotePlaces() noexcept(false);
  KJ_DISALLOW_COPY(RemotePlaces);

  // Resolves to true once `read`, called in a child process, has returned, and
  // to false if it gets no answer for two seconds, or is not done within a
  // minute. `read` opens what it needs: the child has no descriptor of this
  // process. Calls nothing for a path that is not remote. Joins a question for
  // the same path that is under way, whatever that reads. For some seconds
  // after a path gave no answer, its answer is false at once.
  kj::Promise<bool> Ask(const std::string& path,
                        const std::function<void()>& read);
  // Returns what the last question for `path` came to, without waiting: false
  // if there was none. True for a path that is not remote.
  bool Answered(const std::string& path) const;

 private:
  struct Place {
    bool answered = false;
    kj::TimePoint ask_again = kj::origin<kj::TimePoint>();
    // The child that reads or is stuck has this pid, and ends with `end`.
    pid_t pid = 0;
    ipc::UniqueFd child;
    std::optional<kj::UnixEventPort::FdObserver> end;
    kj::Maybe<kj::ForkedPromise<bool>> under_way;
  };

  kj::Promise<bool> AwaitAnswer(Place& place);
  kj::Promise<bool> AwaitSilence(const Place& place, uint64_t switches,
                                 int rounds_left);
  void LeaveBehind(Place& place);
  void taskFailed(kj::Exception&& exception) override;

  kj::UnixEventPort& port_;
  const std::function<bool(const std::string&)> is_remote_;
  std::map<std::string, Place> places_;
  kj::TaskSet stuck_;  // wait for the ends of children
};

}  // namespace bulkhead::files
