// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/state_directory.h"
#include "core/include/bulkhead/crashes.h"

namespace bulkhead::crashes {

// The crash records in the folder `crashes` of a state directory. Each record
// is one file, whose name has the number of the record:
//
//     CrashStore store(state_directory);
//     ASSIGN_OR_RETURN(const uint64_t number, store.Add(crash));
//
// Any number of bulkheadd may write at the same time, and any number of
// programs read. A number belongs to the process that is the first to create
// the file with this number. Files are only replaced as a whole, and any
// process may remove the oldest record. A record may be lost if the machine
// stops, since bulkheadd does not wait for the disk.
//
// The store keeps at most kMaxRecords records of at most kMaxBytes (12.5 MiB),
// and removes the oldest first. The folder is not trusted: files are read
// within these bounds, and files that are no records are reported and ignored.
//
// Without a state directory, nothing is kept. Calls block only as long as the
// file system does. A plain value; not thread-safe.
class CrashStore {
 public:
  static constexpr size_t kMaxRecords = 200;
  static constexpr size_t kMaxBytes = 64 * 1024;
  static constexpr uint64_t kMaxNumber = 999'999'999;

  explicit CrashStore(std::string state_directory)
      : state_directory_(std::move(state_directory)) {}

  // Returns whether records are kept.
  bool enabled() const { return !state_directory_.empty(); }
  // Adds a record and returns its number. Creates the folder if needed. Returns
  // kNotFound if records are not kept, and kResourceExhausted if no record can
  // be added.
  Result<uint64_t> Add(Crash crash) const;
  // Returns an error, with the reason, if no record can be added, as far as
  // that can be found without adding one. Returns OK if records are not kept.
  Status CheckKeeps() const;
  // Sets Crash::outcome of a record.
  Status SetOutcome(uint64_t number, const std::string& outcome) const;
  // Adds `count` to Crash::unrecorded of a record.
  Status AddUnrecorded(uint64_t number, uint64_t count) const;

  // Implement ReadCrashes(), ReadCrash() and ClearCrashes() of
  // bulkhead/crashes.h.
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
