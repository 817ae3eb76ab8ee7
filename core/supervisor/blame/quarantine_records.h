// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// Says why a backend's object must not be started, and identifies the object by
// path, size, time of modification and contents.
struct QuarantineRecord {
  std::string backend;
  std::string path;  // absolute
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  std::string hash;  // the hash of the contents: "sha256=…"
  // The status code for callers that ask for the backend's devices.
  Code code = Code::kBackendUnavailable;
  std::string reason;

  bool operator==(const QuarantineRecord&) const = default;
};

// Stores the quarantined objects in the state directory, one file for each
// path, so that a quarantine outlives this bulkheadd and is seen by others.
//
// A record holds for an object of the same path, size, time and contents. The
// caller compares these properties, since reading the contents takes time, and
// lifts a record that does not hold any more.
//
// Without a usable directory no record is kept, and diagnostics() says why.
// Bounded: once there are kMaxRecords, records of objects that have changed are
// removed; if that frees no place, the newest record is not kept. Bound to the
// event loop's thread; blocks only as long as the file system does.
class QuarantineRecords {
 public:
  static constexpr size_t kMaxRecords = 256;

  // `directory` is empty if no records are to be kept.
  explicit QuarantineRecords(std::string directory)
      : directory_(std::move(directory)) {}

  std::optional<QuarantineRecord> Find(const std::string& path);
  Status Add(const QuarantineRecord& record);
  // Removes the record of `path`. OK if there is none.
  Status Lift(const std::string& path);

  // Returns the latest few problems met since construction.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  void Note(const std::string& file, const std::string& message);

  const std::string directory_;
  Diagnostics diagnostics_;
};

}  // namespace bulkhead::supervisor
