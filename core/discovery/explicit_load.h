// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The arguments of one call of Host::LoadBackend, which names backends by a
// path. They need not lie on the plugin path. They are used even if autoload is
// off, unless the operator's lists exclude them (selection.h). A plain value.
struct ExplicitLoad {
  std::string directory;    // Holds the dist-info.
  std::string dist_info;    // Folder name; empty: all in `directory`.
  std::string object;       // The shared object's path in `directory`, or "".
  std::string entry_point;  // The name; empty: any.

  // Returns whether this load can choose entry points of the distribution with
  // the dist-info folder `dist_info_path`.
  bool MayChoose(const std::string& dist_info_path) const;
  // Returns whether this load chooses the entry point `entry_point` of the
  // distribution with the dist-info folder `dist_info_path`; `object_path` is
  // the path of its shared object.
  bool Chooses(const std::string& dist_info_path,
               const std::string& entry_point,
               const std::string& object_path) const;

  bool operator==(const ExplicitLoad&) const = default;
};

// Resolves the absolute path that a caller gave. It is a NAME-VERSION.dist-info
// directory, a directory that holds such directories, or a shared object that a
// distribution's entry point names; that distribution lies in a directory above
// the object. Fails with kNotFound if there is no such file, and with
// kInvalidArgument if the file is none of the three.
Result<ExplicitLoad> ResolveExplicitLoad(const std::string& path,
                                         const std::string& entry_point);

}  // namespace bulkhead::discovery
