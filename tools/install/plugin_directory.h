// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// Returns the directory to install into: `chosen`, made absolute, unless it is
// empty; otherwise /usr/local/lib/bulkhead for root (`uid` 0), and
// $XDG_DATA_HOME/bulkhead or ~/.local/share/bulkhead for others. The default
// directories are on the default plugin path. Returns kInvalidArgument if the
// user has no home directory.
Result<std::string> PluginDirectory(const std::string& chosen,
                                    const Environment& environment,
                                    unsigned uid);

// Returns true if `directory` is on the plugin path, under this or another name
// (a link, for example).
bool IsOnPluginPath(const Environment& environment,
                    const std::string& directory);

}  // namespace bulkhead::install
