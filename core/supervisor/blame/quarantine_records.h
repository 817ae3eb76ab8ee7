// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::blame {

// A record of why a vendor's shared object must not be started. It is about an
// object of this path, size, time of modification and contents, on a machine
// whose libraries have not changed since.
struct QuarantineRecord {
  std::string backend;
  std::string path;  // absolute
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  std::string hash;          // the hash of the contents: "sha256=…"
  int64_t libraries_ns = 0;  // LibrariesChangedNs()
  // The status code for callers that ask for the backend's devices.
  Code code = Code::kBackendUnavailable;
  std::string reason;

  bool operator==(const QuarantineRecord&) const = default;
};

// Returns when libraries were last installed or removed: the time of
// modification of the dynamic linker's cache; 0 if there is none. A backend
// that lacked a library is worth another try afterwards.
int64_t LibrariesChangedNs();

// Returns whether the record may still hold: the file at its path has its size
// and time, and no libraries have changed. Does not compare the contents.
bool MayHold(const QuarantineRecord& record);

// Stores the quarantined objects in the state directory, one file for each
// path, so that a quarantine outlives this bulkheadd and is seen by others.
//
// A record holds for an object of the same path, size, time and contents, as
// long as no library is installed. The caller compares these properties, since
// reading the contents takes time, and calls Lift() for an outdated record.
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

  // Returns the record of the object at `path`, which the caller compares.
  std::optional<QuarantineRecord> Find(const std::string& path);
  // Writes the record. OK without a directory.
  Status Add(const QuarantineRecord& record);
  // Returns all records that may hold (MayHold).
  std::vector<QuarantineRecord> All() const;
  // Removes the record of `path`. OK if there is none.
  Status Lift(const std::string& path);
  // Removes the records of the backend `name`, wherever its object lies.
  // Returns whether there were any.
  bool LiftNamed(const std::string& name);

  // Returns the latest problems with the directory or its files, at most 16.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Status Write(const QuarantineRecord& record) const;
  // Adds a problem to diagnostics().
  void Note(const std::string& file, const std::string& message);

  const std::string directory_;
  Diagnostics diagnostics_;
};

}  // namespace bulkhead::blame
