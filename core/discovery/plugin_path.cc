// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/plugin_path.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

void Add(SearchDirectory directory, PluginPath& path) {
  if (directory.path.empty()) return;
  if (directory.path.front() != '/') {
    path.diagnostics.push_back(
        {Diagnostic::Severity::kError, "", 0,
         directory.origin + ": " + Quoted(directory.path) +
             " is ignored: write it as an absolute path"});
    return;
  }
  // The path is made free of "..". The sandbox mounts a backend's files at
  // their paths, and a directory that the path only passes through does not
  // exist there.
  directory.path =
      std::filesystem::path(directory.path).lexically_normal().string();
  while (directory.path.size() > 1 && directory.path.back() == '/') {
    directory.path.pop_back();
  }
  const bool known =
      std::any_of(path.directories.begin(), path.directories.end(),
                  [&](const SearchDirectory& other) {
                    return other.path == directory.path;
                  });
  if (!known) path.directories.push_back(std::move(directory));
}

// Adds the directories of an option or, without it, of its variable. Returns
// false if neither is given.
bool AddChosen(const std::optional<std::vector<std::string>>& option,
               const std::string& option_name, const Environment& environment,
               const std::string& variable, PluginPath& path) {
  if (option) {
    for (const std::string& directory : *option) {
      Add({directory, option_name}, path);
    }
    return true;
  }
  const auto value = environment.Get(variable);
  if (!value) return false;
  for (std::string_view list = *value; !list.empty();) {
    const size_t colon = std::min(list.find(':'), list.size());
    Add({std::string(list.substr(0, colon)), variable}, path);
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return true;
}

}  // namespace

PluginPath ResolvePluginPath(const Environment& environment,
                             const std::vector<std::string>& built_in,
                             const PluginPathOverrides& overrides) {
  PluginPath path;
  AddChosen(overrides.add_path, "option plugin_add_path", environment,
            "BULKHEAD_ADD_PATH", path);
  if (!AddChosen(overrides.path, "option plugin_path, --plugin-path",
                 environment, "BULKHEAD_PATH", path)) {
    const std::string data = environment.Get("XDG_DATA_HOME").value_or("");
    const std::string home = environment.Get("HOME").value_or("");
    // The XDG specification demands that a relative path is ignored.
    if (data.starts_with('/')) {
      Add({data + "/bulkhead", "XDG_DATA_HOME"}, path);
    } else if (home.starts_with('/')) {
      Add({home + "/.local/share/bulkhead", "user data"}, path);
    }
    Add({"/usr/local/lib/bulkhead", "system"}, path);
    Add({"/usr/lib/bulkhead", "system"}, path);
  }
  for (const std::string& directory : built_in) {
    Add({directory, "built in", true}, path);
  }
  AddChosen(overrides.last_path, "option plugin_last_path", environment,
            "BULKHEAD_LAST_PATH", path);
  return path;
}

}  // namespace bulkhead::discovery
