// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// A directory that is searched for distributions.
struct SearchDirectory {
  std::string path;
  std::string origin;     // The setting that names it: "BULKHEAD_PATH".
  bool built_in = false;  // Holds Bulkhead's own backends.

  bool operator==(const SearchDirectory&) const = default;
};

// The directories to search, and the problems found in the settings.
struct PluginPath {
  std::vector<SearchDirectory> directories;  // The first has precedence.
  Diagnostics diagnostics;
};

// The options of an application. An option that is set replaces its environment
// variable: `path` replaces BULKHEAD_PATH.
struct PluginPathOverrides {
  std::optional<std::vector<std::string>> add_path;
  std::optional<std::vector<std::string>> path;
  std::optional<std::vector<std::string>> last_path = {};
};

// Returns the directories to search, in this order:
//
//   BULKHEAD_ADD_PATH                    if set; in addition to the others
//   BULKHEAD_PATH                        if set; replaces the next three
//   $XDG_DATA_HOME/bulkhead, or ~/.local/share/bulkhead
//   /usr/local/lib/bulkhead
//   /usr/lib/bulkhead
//   `built_in`                           always; holds Bulkhead's own backends
//   BULKHEAD_LAST_PATH                   if set
//
// The variables are lists with ":" between directories. A directory must be
// absolute, since bulkheadd and the application need not share a working
// directory; a relative one is left out and reported. Empty parts and
// repetitions are dropped. Opens no directory.
PluginPath ResolvePluginPath(const Environment& environment,
                             const std::vector<std::string>& built_in,
                             const PluginPathOverrides& overrides = {});

}  // namespace bulkhead::discovery
