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

// What a source, a wheel or an unpacked distribution, has put below a staging
// directory: exactly the files that its RECORD lists, each verified, except
// RECORD and INSTALLER, which the installer writes itself.
struct Staged {
  std::string dist_info;  // The folder's name.
  std::vector<RecordLine> files;
  Diagnostics diagnostics;
};

// One vendor may not fill somebody's disk.
inline constexpr uint64_t kMaxTotalBytes = uint64_t{4} << 30;
inline constexpr size_t kMaxFiles = 100'000;

// Writes one file that RECORD lists and believes nothing: as many bytes as
// listed and not one more, and the hash that is listed. A file that fails
// stays half written; the caller throws the staging directory away. Not
// thread-safe.
class StagedFile {
 public:
  // Below the open directory `staging`, with mode 0755 or 0644. `expected` has
  // to have hash and size.
  static Result<StagedFile> Create(int staging, RecordLine expected,
                                   bool executable);
  // Verifies and keeps nothing.
  static StagedFile Discarded(RecordLine expected);

  Status Append(std::span<const char> bytes_untrusted);
  Status Finish();

 private:
  explicit StagedFile(RecordLine expected);

  RecordLine expected_;
  ipc::UniqueFd fd_;
  discovery::Digest digest_;
  uint64_t written_ = 0;
};

// Whether a file of the dist-info folder is of no use once installed: RECORD,
// INSTALLER, and signatures of the RECORD that was.
bool IsReplacedOnInstall(std::string_view name);

}  // namespace bulkhead::install
