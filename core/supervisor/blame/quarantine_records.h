// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// Why a backend's object is not to be started, and in which state it was.
struct QuarantineRecord {
  std::string backend;
  std::string path;  // absolute
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  std::string hash;                       // of the contents: "sha256=…"
  Code code = Code::kBackendUnavailable;  // of those who ask for its devices
  std::string reason;

  bool operator==(const QuarantineRecord&) const = default;
};

// The quarantined objects, across all that bulkheadd's life or another's knows.
// One file of the state directory for each path. A record holds for an object
// of the same path, size, time and contents; the caller compares them, since
// reading the contents takes time, and lifts a record that does not hold.
//
// Without a directory, or with one that does not count, nothing is remembered,
// and diagnostics() says why. Bounded: when there are kMaxRecords, those go
// whose object has changed, and after that the newest is not kept. Bound to the
// event loop's thread; blocks only as long as the file system does.
class QuarantineRecords {
 public:
  static constexpr size_t kMaxRecords = 256;

  // Empty: no directory.
  explicit QuarantineRecords(std::string directory)
      : directory_(std::move(directory)) {}

  std::optional<QuarantineRecord> Find(const std::string& path);
  Status Add(const QuarantineRecord& record);
  // Also if there is none.
  Status Lift(const std::string& path);

  // Of what was found since it began, the latest few.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  void Note(const std::string& file, const std::string& message);

  const std::string directory_;
  Diagnostics diagnostics_;
};

}  // namespace bulkhead::supervisor
