// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// The directory in which records outlive bulkheadd. Several may use it at once,
// each record is a file of its own, and the last writer of one wins. It counts
// only if it is a directory of this user into which nobody else can write;
// links in its place are not followed.
//
// What is read may be anything: half of what somebody wrote by hand, or what
// another version left. It is bounded, and readers make nothing of what they do
// not understand. A record is replaced as a whole or not at all, also when the
// disk is full or the machine stops.
//
// Names are ours: without a slash, not beginning with a dot. Blocks only as
// long as the file system does. Not thread-safe.
class StateDirectory {
 public:
  // kNotFound: there is none. kInvalidArgument: what is there is not to be
  // trusted, and the message says why.
  static Result<StateDirectory> Open(const std::string& path);
  // Makes it, and those above it, for this user alone.
  static Result<StateDirectory> OpenOrCreate(const std::string& path);

  // kNotFound, or kBadInput for what is no regular file of at most `max_bytes`.
  Result<std::string> Read(const std::string& name, size_t max_bytes) const;
  // kResourceExhausted: it cannot be written, and what was there still is.
  Status Write(const std::string& name, const std::string& contents) const;
  // The same, but if the machine stops soon after there may be neither. Takes
  // no longer than memory does.
  Status WriteSoon(const std::string& name, const std::string& contents) const;
  // And only if there is nothing of that name; false: there is.
  Result<bool> AddSoon(const std::string& name,
                       const std::string& contents) const;
  // Also if there is none.
  Status Remove(const std::string& name) const;
  // Those that begin with `prefix`, sorted, at most `max_names`.
  std::vector<std::string> List(const std::string& prefix,
                                size_t max_names) const;

 private:
  enum class Durability { kDisk, kMemory };

  // `flags` as renameat2 has them. 0, or an errno.
  int Replace(const std::string& name, const std::string& contents,
              Durability durability, unsigned flags) const;
  Status Failure(const std::string& name, int error) const;
  StateDirectory(std::string path, ipc::UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  ipc::UniqueFd directory_;
};

}  // namespace bulkhead::supervisor
