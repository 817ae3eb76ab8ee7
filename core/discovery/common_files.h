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

// The most bytes of a bulkhead.toml, which is usually a page of text.
inline constexpr size_t kMaxManifestBytes = size_t{1} << 16;

// Opens a directory for reading. Fails with kBackendUnavailable.
Result<ipc::UniqueFd> OpenDirectory(const std::string& path);

// The files of one distribution that its backends share: the manifest
// (bulkhead.toml) and RECORD (the list of its files). CommonFiles reads each
// file once, when the first backend needs it. Later calls return the same
// contents or the same failure. The files are hostile; kMaxManifestBytes and
// kMaxBackendsRecordBytes (distribution.h) bound them.
class CommonFiles {
 public:
  // Borrows both arguments. Counts in `work` the files, rows and bytes read.
  CommonFiles(const Distribution& distribution, Discovery::Work& work)
      : distribution_(distribution), work_(work) {}

  // Returns a descriptor of the directory that holds the dist-info. This object
  // owns the descriptor.
  Result<int> Directory();
  // Returns the text of bulkhead.toml, or nullopt if there is none.
  Result<std::optional<std::string>> ManifestText();
  // Returns the rows of RECORD, or null if there is no RECORD. The first call
  // reports the rows that are left out in `diagnostics`.
  Result<const std::vector<RecordedFile>*> Rows(Diagnostics& diagnostics);

 private:
  using Record = std::optional<std::vector<RecordedFile>>;

  const Distribution& distribution_;
  Discovery::Work& work_;
  std::optional<Result<ipc::UniqueFd>> directory_;
  std::optional<Result<std::optional<std::string>>> manifest_;
  std::optional<Result<Record>> record_;
};

// Reads the manifest, the shared object's attributes, RECORD and the clips of
// the backend `candidate.entry_point`, and sets the members of `candidate` that
// come from them. Fails, with a message that says what to repair, if the
// backend cannot be used.
Status Complete(const Distribution& distribution, CommonFiles& files,
                Diagnostics& diagnostics, BackendCandidate& candidate);

}  // namespace bulkhead::discovery
