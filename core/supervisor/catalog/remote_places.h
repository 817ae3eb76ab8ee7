// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Keeps this process from directories that do not answer. A file system that
// another program or machine serves (FUSE, NFS) can leave whoever reads it
// waiting for ever, and SIGKILL may not end that. Packages lie on such file
// systems too, and nobody who asks for another backend should wait for them.
//
//   RemotePlaces places;
//   if (places.Answers("/net/site-packages", [&] { Read("/net/..."); })) {
//     Read("/net/...");
//   }
//
// A child process reads first what this one is about to read, and this one
// waits a moment for it. A child that is stuck is left behind, holds no
// descriptor of ours, and its directory does not answer until it has ended: so
// there is one at most for each directory. A directory that stops answering
// between the two reads is not noticed.
//
// Bound to the thread that made it.
class RemotePlaces {
 public:
  // Returns whether another program or machine serves the directory. Looks at
  // the path alone and touches no file of it, so that it does not see where
  // symbolic links lead.
  static bool IsRemote(const std::string& directory);

  // Tests replace IsRemote().
  explicit RemotePlaces(
      std::function<bool(const std::string&)> is_remote = IsRemote)
      : is_remote_(std::move(is_remote)) {}
  ~RemotePlaces();
  RemotePlaces(const RemotePlaces&) = delete;
  RemotePlaces& operator=(const RemotePlaces&) = delete;

  // Returns false if `read`, called in a child process, has not returned within
  // two seconds. Returns true for a directory that is not remote, without a
  // call.
  bool Answers(const std::string& directory, const std::function<void()>& read);

 private:
  const std::function<bool(const std::string&)> is_remote_;
  std::map<std::string, ipc::UniqueFd> stuck_;  // pidfds of children
};

}  // namespace bulkhead::supervisor
