// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// Backends that a caller chose by their place (Host::LoadBackend) instead of
// leaving the choice to the plugin path. They are used even if autoload is off,
// but not against the operator's disable list. A plain value.
struct ExplicitLoad {
  std::string directory;    // Holds the dist-info.
  std::string dist_info;    // Folder name; empty: every one in `directory`.
  std::string plugin_path;  // Relative to `directory`; empty: any.
  std::string entry_point;  // The name; empty: any.

  // Returns whether this load can choose entry points of the distribution whose
  // dist-info has the path `described`.
  bool MayMean(const std::string& described) const;
  // Returns whether this load chooses the entry point `entry_point` of the
  // distribution whose dist-info has the path `described`.
  bool Means(const std::string& described, const std::string& entry_point,
             const std::string& plugin_path) const;

  bool operator==(const ExplicitLoad&) const = default;
};

// Resolves the absolute path that a caller gave: a NAME-VERSION.dist-info
// directory, a directory that holds some, or a shared object that is named by
// an entry point of a distribution in one of the directories above it. Fails
// with kNotFound if there is no such file, and with kInvalidArgument if the
// file is none of the three.
Result<ExplicitLoad> ResolveExplicitLoad(const std::string& path,
                                         const std::string& entry_point);

}  // namespace bulkhead::discovery
