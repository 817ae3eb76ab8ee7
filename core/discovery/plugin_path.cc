// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/plugin_path.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "core/discovery/text.h"

namespace bulkhead::discovery {
namespace {

void Add(SearchDirectory directory, PluginPath& path) {
  while (directory.path.size() > 1 && directory.path.back() == '/') {
    directory.path.pop_back();
  }
  if (directory.path.empty()) return;
  if (directory.path.front() != '/') {
    path.diagnostics.push_back(
        {Diagnostic::Severity::kError, "", 0,
         directory.origin + ": " + Quoted(directory.path) +
             " is ignored: write it as an absolute path"});
    return;
  }
  const bool known =
      std::any_of(path.directories.begin(), path.directories.end(),
                  [&](const SearchDirectory& other) {
                    return other.path == directory.path;
                  });
  if (!known) path.directories.push_back(std::move(directory));
}

void AddList(std::string_view list, const std::string& origin,
             PluginPath& path) {
  while (!list.empty()) {
    const size_t colon = std::min(list.find(':'), list.size());
    Add({std::string(list.substr(0, colon)), origin}, path);
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
}

}  // namespace

PluginPath ResolvePluginPath(const Environment& environment,
                             const std::vector<std::string>& built_in) {
  PluginPath path;
  if (const auto added = environment.Get("BULKHEAD_ADD_PATH")) {
    AddList(*added, "BULKHEAD_ADD_PATH", path);
  }
  if (const auto replaced = environment.Get("BULKHEAD_PATH")) {
    AddList(*replaced, "BULKHEAD_PATH", path);
  } else {
    const std::string data = environment.Get("XDG_DATA_HOME").value_or("");
    const std::string home = environment.Get("HOME").value_or("");
    // The XDG specification: a relative path there is as good as none.
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
  return path;
}

}  // namespace bulkhead::discovery
