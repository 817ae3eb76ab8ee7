// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/discovery/file_identity.h"
#include "core/discovery/manifest.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The clips that a backend brings for its health checks (`health_check` in
// bulkhead.toml), as files of its distribution. Nothing here looks into the
// media: a worker of the backend decodes them in its sandbox.
//
// Trust: a stranger names the paths. A clip has to pass the rules for the
// distribution's files (package_files.h). So no link is followed, and no
// package can make Bulkhead read another package's file.

inline constexpr size_t kMaxOwnClipBytes = size_t{1} << 20;

// A clip that a manifest names, as it was found.
struct OwnClip {
  std::string path;  // Relative to the directory that holds the dist-info.
  std::vector<std::string> picture_md5s;
  FileIdentity identity = {};
  // The hash of the content in RECORD. Set only if DoubtOf() doubts the file,
  // so that its content has to be compared with the hash.
  std::string hash = {};
  // The reason why the clip cannot be used, as a clause; empty if it can be
  // used.
  std::string fault = {};

  bool operator==(const OwnClip&) const = default;
};

// Finds the clips that `manifest` names, below the folder `dist_info` of the
// open directory. `rows` are the rows of RECORD, or null; `object` holds the
// attributes of the shared object. Each fault is also a diagnostic, for which
// `file` is the manifest's path.
std::vector<OwnClip> FindOwnClips(
    int directory_fd, const std::string& dist_info, const Manifest& manifest,
    const std::vector<RecordedFile>* rows, const struct stat& object,
    const std::string& file, Diagnostics& diagnostics);

// Returns the contents of a clip below the directory with the path `directory`.
// Fails, with a clause that says why, if the clip has a fault or has changed
// since FindOwnClips().
Result<std::string> ReadOwnClip(const std::string& directory,
                                const OwnClip& clip);

}  // namespace bulkhead::discovery
