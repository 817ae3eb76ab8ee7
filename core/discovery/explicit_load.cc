// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/explicit_load.h"

#include <fcntl.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "core/base/text.h"
#include "core/discovery/distribution.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/plugin_file.h"
#include "core/discovery/scan.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {
namespace {

namespace fs = std::filesystem;

// The most directories above the object that are searched. Each part of the
// module's name is a directory, and modules have few parts.
constexpr int kMaxModuleDepth = 8;

// Finds the distribution in `directory` with an entry point whose object is
// `object`, a path relative to that directory.
std::optional<ExplicitLoad> FindOwner(const fs::path& directory,
                                      const std::string& object) {
  const ipc::UniqueFd fd(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  const Scan scan = ScanPluginPath({{directory.string(), "above the object"}});
  for (const Distribution& distribution : scan.distributions) {
    for (const EntryPoint& entry_point : distribution.entry_points) {
      if (entry_point.group != kBackendGroup) continue;
      const auto plugin = OpenPluginFile(fd.get(), entry_point.module);
      if (plugin && plugin->path == object) {
        return ExplicitLoad{.directory = directory.string(),
                            .dist_info = distribution.dist_info,
                            .object = object,
                            .entry_point = ""};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool ExplicitLoad::MayChoose(const std::string& dist_info_path) const {
  return dist_info.empty() ? fs::path(dist_info_path).parent_path() == directory
                           : dist_info_path == directory + "/" + dist_info;
}

bool ExplicitLoad::Chooses(const std::string& dist_info_path,
                           const std::string& entry_point_name,
                           const std::string& object_path) const {
  return MayChoose(dist_info_path) &&
         (object.empty() || object_path == object) &&
         (entry_point.empty() || entry_point_name == entry_point);
}

Result<ExplicitLoad> ResolveExplicitLoad(const std::string& path,
                                         const std::string& entry_point) {
  std::error_code error;
  // The path is made canonical, since directories are compared by name from
  // here on.
  const fs::path real = fs::canonical(path, error);
  if (error) {
    return Status(Code::kNotFound, "cannot load a backend from " +
                                       Quoted(path) + ": " + error.message());
  }
  if (fs::is_directory(real, error)) {
    if (real.filename().string().ends_with(kDistInfoSuffix)) {
      return ExplicitLoad{.directory = real.parent_path().string(),
                          .dist_info = real.filename().string(),
                          .object = "",
                          .entry_point = entry_point};
    }
    return ExplicitLoad{.directory = real.string(),
                        .dist_info = "",
                        .object = "",
                        .entry_point = entry_point};
  }
  if (fs::is_regular_file(real, error)) {
    // The distribution lies in one of the directories above the object.
    fs::path directory = real;
    for (int depth = 0; depth < kMaxModuleDepth; ++depth) {
      if (directory == directory.root_path()) break;
      directory = directory.parent_path();
      const std::string object = real.lexically_relative(directory).string();
      if (auto load = FindOwner(directory, object)) {
        load->entry_point = entry_point;
        return *std::move(load);
      }
    }
  }
  return Status(
      Code::kInvalidArgument,
      "cannot load a backend from " + Quoted(path) +
          ": it is neither a NAME-VERSION.dist-info directory, nor a directory "
          "that holds some, nor a shared object that an entry point of group " +
          std::string(kBackendGroup) + " names");
}

}  // namespace bulkhead::discovery
