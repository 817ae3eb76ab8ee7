// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// Returns the directory to install into, the first of these that applies:
//   1. `chosen`, made absolute, if it is not empty;
//   2. /usr/local/lib/bulkhead for root (`uid` 0);
//   3. $XDG_DATA_HOME/bulkhead;
//   4. $HOME/.local/share/bulkhead.
// The last three are on the default plugin path. Returns kInvalidArgument if
// none applies.
Result<std::string> PluginDirectory(const std::string& chosen,
                                    const Environment& environment,
                                    unsigned uid);

// Returns true if `directory` is on the plugin path, under this name or another
// one (a link, for example).
bool IsOnPluginPath(const Environment& environment,
                    const std::string& directory);

}  // namespace bulkhead::install
