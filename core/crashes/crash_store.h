// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/state_directory.h"
#include "core/include/bulkhead/crashes.h"

namespace bulkhead::crashes {

// The records of crashes in the folder `crashes` of a state directory. Each
// record is one file, named by the number of the record:
//
//     CrashStore store(state_directory);
//     ASSIGN_OR_RETURN(const uint64_t number, store.Add(crash));
//
// Any number of bulkheadd may write, and any number of programs read, at the
// same time. Whoever creates the file of a number first has that number. A file
// is replaced as a whole or not at all, and it does not matter who removes the
// oldest record. A record may be lost if the machine stops, since bulkheadd
// does not wait for the disk.
//
// At most kMaxRecords of kMaxBytes each are kept (12.5 MiB); the oldest are
// removed first. The folder is not trusted: files are read within these bounds,
// and files that are no records are reported and otherwise ignored.
//
// With an empty directory nothing is kept. Calls block only as long as the file
// system does. A plain value; not thread-safe.
class CrashStore {
 public:
  static constexpr size_t kMaxRecords = 200;
  static constexpr size_t kMaxBytes = 64 * 1024;
  static constexpr uint64_t kMaxNumber = 999'999'999;

  explicit CrashStore(std::string state_directory)
      : state_directory_(std::move(state_directory)) {}

  // Returns whether records are kept.
  bool enabled() const { return !state_directory_.empty(); }
  // Adds a record and returns its number. Makes the directory if needed. Fails
  // with kNotFound if records are not kept, and with kResourceExhausted if no
  // record can be added.
  Result<uint64_t> Add(Crash crash) const;
  // Returns why no record can be added, as far as that can be known without
  // adding one. OK if records are not kept.
  Status CheckKeeps() const;
  // Sets Crash::outcome of a record.
  Status SetOutcome(uint64_t number, const std::string& outcome) const;
  // Adds `count` to Crash::unrecorded of a record.
  Status AddUnrecorded(uint64_t number, uint64_t count) const;

  // Implement the functions of the same purpose in bulkhead/crashes.h.
  Result<CrashList> ReadAll() const;
  Result<Crash> Read(uint64_t number) const;
  Status Clear() const;

 private:
  using Directory = StateDirectory;

  Result<Directory> Open() const;
  std::string PathOf(const std::string& name) const;
  Result<Crash> ReadFrom(const Directory& directory,
                         const std::string& name) const;

  std::string state_directory_;
};

}  // namespace bulkhead::crashes
