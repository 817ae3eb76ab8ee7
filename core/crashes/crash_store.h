// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/state_directory.h"
#include "core/include/bulkhead/crashes.h"

namespace bulkhead::crashes {

// The records of crashes in the folder `crashes` of a state directory, one file
// each, named by its number. Any number of bulkheadd write and any number of
// programs read at the same time: a number is taken by whoever makes the file
// of it first, a file is replaced as a whole or not at all, and it does not
// matter who removes the oldest. That none is lost when the machine stops is
// not promised: bulkheadd does not wait for the disk.
//
// Bounded: at most kMaxRecords of kMaxBytes each, 12.5 MiB; the oldest go
// first. What is there may be anything that somebody put there: it is read
// within these bounds and told of, and is in nobody's way.
//
// An empty directory keeps nothing. Blocks only as long as the file system
// does. A value; not thread-safe.
class CrashStore {
 public:
  static constexpr size_t kMaxRecords = 200;
  static constexpr size_t kMaxBytes = 64 * 1024;
  static constexpr uint64_t kMaxNumber = 999'999'999;

  explicit CrashStore(std::string state_directory)
      : state_directory_(std::move(state_directory)) {}

  bool enabled() const { return !state_directory_.empty(); }
  // The number that it has now. Makes the directory.
  Result<uint64_t> Add(Crash crash) const;
  Status SetOutcome(uint64_t number, const std::string& outcome) const;

  Result<CrashList> ReadAll() const;
  Result<Crash> Read(uint64_t number) const;
  Status Clear() const;

 private:
  using Directory = supervisor::StateDirectory;

  Result<Directory> Open() const;
  std::string PathOf(const std::string& name) const;
  Result<Crash> ReadFrom(const Directory& directory,
                         const std::string& name) const;

  std::string state_directory_;
};

}  // namespace bulkhead::crashes
