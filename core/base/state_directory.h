// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead {

// The directory of the records that outlive bulkheadd, such as crashes and
// quarantines. Several bulkheadds may use it at the same time: each record is a
// file of its own, and the last writer of a record wins. The directory is used
// only if it belongs to this user and nobody else can write to it; a symbolic
// link in its place is not followed.
//
//     ASSIGN_OR_RETURN(auto state, StateDirectory::OpenOrCreate(path));
//     RETURN_IF_ERROR(state.Write(name, text));
//
// The contents are not trusted: somebody may have edited a record by hand, or
// another version may have written it. Reads are bounded, and readers ignore
// what they do not understand. A record is replaced as a whole or not at all,
// even if the disk is full or the machine stops (WriteSoon() and AddSoon()
// promise less).
//
// Bulkhead chooses the names of records, without a slash or a leading dot.
// Calls block only as long as the file system does. Not thread-safe.
class StateDirectory {
 public:
  // Opens the directory. kNotFound if there is none; kInvalidArgument if it
  // must not be trusted, and the message says why.
  static Result<StateDirectory> Open(const std::string& path);
  // Opens the directory. If the directory or those above it are missing, first
  // makes them, with access for this user alone.
  static Result<StateDirectory> OpenOrCreate(const std::string& path);
  // Returns an error, with the reason, if no record can be kept in the
  // directory. Returns OK if no reason can be found without writing a record.
  // The directory need not exist yet.
  static Status CheckKeeps(const std::string& path);

  // Returns a record. kNotFound if there is none, kBadInput if it is not a
  // regular file of at most `max_bytes`.
  Result<std::string> Read(const std::string& name, size_t max_bytes) const;
  // Replaces a record and waits until it is on the disk. kResourceExhausted if
  // it cannot be written; the old record then still exists.
  Status Write(const std::string& name, const std::string& contents) const;
  // Replaces a record without waiting for the disk. If the machine stops soon
  // afterwards, both the old and the new record may be lost.
  Status WriteSoon(const std::string& name, const std::string& contents) const;
  // Adds a record without waiting for the disk. Returns false, and changes
  // nothing, if a record of that name exists.
  Result<bool> AddSoon(const std::string& name,
                       const std::string& contents) const;
  // Removes a record. OK if there is none.
  Status Remove(const std::string& name) const;
  // Returns the names that begin with `prefix`, sorted; at most `max_names`.
  std::vector<std::string> List(const std::string& prefix,
                                size_t max_names) const;

 private:
  enum class Durability {
    kDisk,    // Waits until the record is on the disk.
    kMemory,  // Leaves that to the kernel.
  };

  // Writes a temporary file and renames it to `name`. `flags` are the flags of
  // renameat2. Returns 0 or an errno.
  int Replace(const std::string& name, const std::string& contents,
              Durability durability, unsigned flags) const;
  // Returns the failure to write `name` with `error`, an errno; OK for 0.
  Status Failure(const std::string& name, int error) const;
  Status CheckWritable() const;
  StateDirectory(std::string path, ipc::UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  ipc::UniqueFd directory_;
};

}  // namespace bulkhead
