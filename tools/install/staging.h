// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"
#include "tools/install/record.h"

namespace bulkhead::install {

// The contents of a staging directory after a wheel or an unpacked distribution
// was copied into it: exactly the files that RECORD lists, each verified,
// except RECORD and INSTALLER, which the installer writes itself.
struct Staged {
  std::string dist_info;  // The name of the dist-info folder.
  std::vector<RecordLine> files;
  Diagnostics diagnostics;
};

// The largest distribution accepted, so that one vendor cannot fill the disk.
inline constexpr uint64_t kMaxTotalBytes = uint64_t{4} << 30;
inline constexpr size_t kMaxFiles = 100'000;

// Writes one file and verifies that it has exactly the size and the hash that
// RECORD lists. Never writes more bytes than listed. A file that fails stays
// half written; the caller then removes the whole staging directory. Not
// thread-safe.
class StagedFile {
 public:
  // Creates the file below the open directory `staging`, with mode 0755 if
  // `executable`, else 0644. `expected` must have a hash and a size.
  static Result<StagedFile> Create(int staging, RecordLine expected,
                                   bool executable);
  // Returns an object that verifies the bytes but writes no file.
  static StagedFile Discarded(RecordLine expected);

  Status Append(std::span<const char> bytes_untrusted);
  Status Finish();

 private:
  explicit StagedFile(RecordLine expected);

  RecordLine expected_;
  ipc::UniqueFd fd_;
  Digest digest_;
  uint64_t written_ = 0;
};

// Returns true if the installer replaces or drops this file of the dist-info
// folder: RECORD, INSTALLER, and signatures of the original RECORD.
bool IsReplacedOnInstall(std::string_view name);

}  // namespace bulkhead::install
