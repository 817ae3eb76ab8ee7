// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// A directory in which distributions are looked for.
struct SearchDirectory {
  std::string path;
  std::string origin;     // Why it is searched, in words: "BULKHEAD_PATH".
  bool built_in = false;  // Holds Bulkhead's own backends.

  bool operator==(const SearchDirectory&) const = default;
};

struct PluginPath {
  std::vector<SearchDirectory> directories;  // First wins.
  Diagnostics diagnostics;
};

// What an application says instead of the variable.
struct PluginPathOverrides {
  std::optional<std::vector<std::string>> add_path;
  std::optional<std::vector<std::string>> path;
};

// Where to look, in order:
//
//   BULKHEAD_ADD_PATH                    if set; goes first
//   BULKHEAD_PATH                        if set; replaces the next three
//   $XDG_DATA_HOME/bulkhead, or ~/.local/share/bulkhead
//   /usr/local/lib/bulkhead
//   /usr/lib/bulkhead
//   `built_in`                           always; where our own backends are
//
// The variables are lists with ":" between directories. A directory must be
// absolute, since bulkheadd and the application need not share a working
// directory; one that is not is left out and reported. Empty parts and
// repetitions are dropped. Nothing is opened here.
PluginPath ResolvePluginPath(const Environment& environment,
                             const std::vector<std::string>& built_in,
                             const PluginPathOverrides& overrides = {});

}  // namespace bulkhead::discovery
