// SPDX-License-Identifier: Apache-2.0
#include "tools/install/plugin_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/discovery/plugin_path.h"

namespace bulkhead::install {

Result<std::string> PluginDirectory(const std::string& chosen,
                                    const Environment& environment,
                                    unsigned uid) {
  if (!chosen.empty()) {
    std::error_code error;
    const auto path =
        std::filesystem::absolute(chosen, error).lexically_normal();
    // Removes a slash at the end: the path "a/b/" has an empty file name, and
    // its parent is "a/b".
    return path.has_filename() ? path.string() : path.parent_path().string();
  }
  if (uid == 0) return std::string("/usr/local/lib/bulkhead");
  const std::string data = environment.Get("XDG_DATA_HOME").value_or("");
  if (data.starts_with('/')) return data + "/bulkhead";
  const std::string home = environment.Get("HOME").value_or("");
  if (home.starts_with('/')) return home + "/.local/share/bulkhead";
  return Status(Code::kInvalidArgument,
                "neither XDG_DATA_HOME nor HOME is set: name a directory");
}

bool IsOnPluginPath(const Environment& environment,
                    const std::string& directory) {
  const discovery::PluginPath path =
      discovery::ResolvePluginPath(environment, {});
  return std::any_of(path.directories.begin(), path.directories.end(),
                     [&](const auto& searched) {
                       std::error_code error;
                       return searched.path == directory ||
                              std::filesystem::equivalent(searched.path,
                                                          directory, error);
                     });
}

}  // namespace bulkhead::install
