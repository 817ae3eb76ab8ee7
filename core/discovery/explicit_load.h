// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// Backends that a caller named by where they lie, instead of leaving it to the
// plugin path: Host::LoadBackend. They count whatever the autoload switch says
// (an operator's disable list wins all the same). A value.
struct ExplicitLoad {
  std::string directory;    // That holds the dist-info.
  std::string dist_info;    // Its name; empty: every one in the directory.
  std::string plugin_path;  // Below the directory; empty: any.
  std::string entry_point;  // Its name; empty: any.

  // Whether it means entry points of the distribution that is described in
  // `described`, the dist-info's path, and that one of them.
  bool MayMean(const std::string& described) const;
  bool Means(const std::string& described, const std::string& entry_point,
             const std::string& plugin_path) const;

  bool operator==(const ExplicitLoad&) const = default;
};

// What a caller means by `path`, which is absolute: a NAME-VERSION.dist-info, a
// directory that holds some, or a shared object for which one of the
// directories above it has an entry point. kNotFound if there is no such file;
// kInvalidArgument, saying what was expected, if it is none of the three.
Result<ExplicitLoad> ResolveExplicitLoad(const std::string& path,
                                         const std::string& entry_point);

}  // namespace bulkhead::discovery
