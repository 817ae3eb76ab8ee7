// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/policy.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/loader_libraries.h"

namespace bulkhead::sandbox {
namespace {

namespace fs = std::filesystem;

bool IsBelow(const std::string& path, const VisiblePath& tree) {
  return tree.kind == VisiblePath::Kind::kTree &&
         (path == tree.path || path.starts_with(tree.path + "/"));
}

VisiblePath::Kind KindOf(GrantedPath::Kind kind) {
  switch (kind) {
    case GrantedPath::Kind::kDirectory:
      return VisiblePath::Kind::kTree;
    case GrantedPath::Kind::kDevice:
      return VisiblePath::Kind::kDevice;
    case GrantedPath::Kind::kFile:
      break;
  }
  return VisiblePath::Kind::kFile;
}

// AddGranted() and AddFile() add nothing if the path or a tree above it is
// visible already.
void AddGranted(const GrantedPath& granted, std::vector<VisiblePath>& visible) {
  const auto hides = [&](const VisiblePath& other) {
    return other.path == granted.path || IsBelow(granted.path, other);
  };
  if (std::any_of(visible.begin(), visible.end(), hides)) return;
  visible.push_back({.path = granted.path,
                     .kind = KindOf(granted.kind),
                     .target = "",
                     .identity = granted.identity});
}

Status AddFile(const Plugin::File& file, std::vector<VisiblePath>& visible) {
  // Normalized, because ".." could lead elsewhere in the sandbox, where links
  // are missing.
  const fs::path normal = fs::path(file.path).lexically_normal();
  if (!normal.is_absolute() || !normal.has_filename()) {
    return Status(Code::kBackendUnavailable,
                  file.path +
                      " cannot be made visible to a backend: give the "
                      "absolute path of a file");
  }
  const std::string path = normal.string();
  const auto hides = [&](const VisiblePath& other) {
    return other.path == path || IsBelow(path, other);
  };
  if (std::none_of(visible.begin(), visible.end(), hides)) {
    visible.push_back(
        {path, VisiblePath::Kind::kFile, "", file.identity, file.contents});
  }
  return Status();
}

}  // namespace

const char* TierName(Tier tier) {
  switch (tier) {
    case Tier::kFull:
      return "full";
    case Tier::kReduced:
      return "reduced";
    case Tier::kNone:
      break;
  }
  return "none";
}

Result<Policy> MakePolicy(const Plugin& plugin, const Grants& grants) {
  Policy policy;
  policy.ioctl_types = grants.ioctl_types;
  policy.visible = LoaderLibraries();
  for (const Plugin::File& file : plugin.files) {
    RETURN_IF_ERROR(AddFile(file, policy.visible));
  }
  for (const GrantedPath& path : grants.paths) {
    AddGranted(path, policy.visible);
  }
  // Trees come first, as Policy::visible promises.
  std::stable_partition(policy.visible.begin(), policy.visible.end(),
                        [](const VisiblePath& visible) {
                          return visible.kind == VisiblePath::Kind::kTree;
                        });
  // A granted directory may contain paths that were added before the directory.
  std::vector<VisiblePath> outermost;
  for (const VisiblePath& candidate : policy.visible) {
    const bool hidden = std::any_of(
        policy.visible.begin(), policy.visible.end(),
        [&](const VisiblePath& other) {
          return other.path != candidate.path && IsBelow(candidate.path, other);
        });
    if (!hidden) outermost.push_back(candidate);
  }
  policy.visible = std::move(outermost);
  return policy;
}

uint64_t HalfOfMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

void RaiseLimits(const Grants& grants, Limits& limits) {
  limits.address_space_bytes =
      std::max(limits.address_space_bytes, grants.address_space_bytes);
  limits.load_bytes = std::max(limits.load_bytes, grants.address_space_bytes);
  limits.memory_bytes =
      std::max(limits.memory_bytes, grants.address_space_bytes);
  limits.tasks = std::max(limits.tasks, grants.tasks);
}

}  // namespace bulkhead::sandbox
