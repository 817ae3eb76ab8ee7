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

// Says why a backend's object must not be started, and identifies the object by
// path, size, time of modification and contents. The object was started with
// the libraries that were installed then.
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

// Returns when libraries were last installed or removed: the time of the
// dynamic linker's cache. A backend that failed for want of a library is worth
// another try afterwards.
int64_t LibrariesChangedNs();

// Returns whether the record is about this object and the installed libraries,
// as far as can be known without reading the object.
bool MayHold(const QuarantineRecord& record);

// Stores the quarantined objects in the state directory, one file for each
// path, so that a quarantine outlives this bulkheadd and is seen by others.
//
// A record holds for an object of the same path, size, time and contents, as
// long as no library is installed. The caller compares these properties, since
// reading the contents takes time, and lifts a record that does not hold any
// more.
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
  // Returns the records of all objects that may hold.
  std::vector<QuarantineRecord> All() const;
  // Removes the record of `path`. OK if there is none.
  Status Lift(const std::string& path);
  // Removes the records of the backend `name`, wherever its object lies.
  // Returns whether there were any.
  bool LiftNamed(const std::string& name);

  // Returns the latest few problems met since construction.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  void Note(const std::string& file, const std::string& message);

  const std::string directory_;
  Diagnostics diagnostics_;
};

}  // namespace bulkhead::blame
