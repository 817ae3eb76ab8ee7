// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/discovery/distribution.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// A manifest is a page of text.
inline constexpr size_t kMaxManifestBytes = size_t{1} << 16;

Result<ipc::UniqueFd> OpenDirectory(const std::string& path);

// The files of one distribution that all its backends have in common. They are
// read when the first backend needs them, and once.
class CommonFiles {
 public:
  // Both are borrowed; `work` counts what is read.
  CommonFiles(const Distribution& distribution, Discovery::Work& work)
      : distribution_(distribution), work_(work) {}

  // Returns the open directory that holds the dist-info.
  Result<int> Directory();
  // Returns the text of bulkhead.toml, or nullopt if there is none.
  Result<std::optional<std::string>> ManifestText();
  // Returns the rows of RECORD, or null if there is none.
  Result<const std::vector<RecordedFile>*> Rows(Diagnostics& diagnostics);

 private:
  using Record = std::optional<std::vector<RecordedFile>>;

  const Distribution& distribution_;
  Discovery::Work& work_;
  std::optional<Result<ipc::UniqueFd>> directory_;
  std::optional<Result<std::optional<std::string>>> manifest_;
  std::optional<Result<Record>> record_;
};

// Sets everything that is read from the distribution's files.
Status Complete(const Distribution& distribution, CommonFiles& files,
                Diagnostics& diagnostics, BackendCandidate& candidate);

}  // namespace bulkhead::discovery
