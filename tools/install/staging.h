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

// The contents of a staging directory, into which a wheel or an unpacked
// distribution was copied. Each file is listed in its RECORD and was verified.
// RECORD and INSTALLER are missing, since the installer writes new ones.
struct Staged {
  std::string dist_info;  // The name of the dist-info folder.
  std::vector<RecordLine> files;
  Diagnostics diagnostics;
};

// The largest distribution accepted, so that one vendor cannot fill the disk.
inline constexpr uint64_t kMaxTotalBytes = uint64_t{4} << 30;
inline constexpr size_t kMaxFiles = 100'000;

// Writes one file and verifies that it has exactly the size and the hash that
// RECORD lists. Never writes more bytes than the listed size. If a call fails,
// the file stays partly written; the caller then removes the whole staging
// directory. Not thread-safe.
class StagedFile {
 public:
  // Creates the file below the open directory `staging`, with mode 0755 if
  // `executable`, else 0644. `expected` must have a hash and a size.
  static Result<StagedFile> Create(int staging, RecordLine expected,
                                   bool executable);
  // Returns a StagedFile that verifies the bytes of Append() but writes no
  // file.
  static StagedFile Discarded(RecordLine expected);

  // Appends bytes. kBadInput if there are more than RECORD lists.
  Status Append(std::span<const char> bytes_untrusted);
  // Verifies size and hash; kBadInput if one is wrong. Call it once, at the
  // end.
  Status Finish();

 private:
  explicit StagedFile(RecordLine expected);

  RecordLine expected_;
  ipc::UniqueFd fd_;
  Digest digest_;
  uint64_t written_ = 0;
};

// Returns true if the installer replaces or leaves out this file of the
// dist-info folder: RECORD, INSTALLER, and signatures of the original RECORD.
bool IsReplacedOnInstall(std::string_view name);

}  // namespace bulkhead::install
