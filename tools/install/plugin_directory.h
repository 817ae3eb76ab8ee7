// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/discovery/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// Where distributions are installed when nobody says where: for root (`uid` 0)
// /usr/local/lib/bulkhead, for others $XDG_DATA_HOME/bulkhead or
// ~/.local/share/bulkhead. All are searched by default. kInvalidArgument if
// there is no home.
Result<std::string> DefaultPluginDirectory(
    const discovery::Environment& environment, unsigned uid);

// Whether backends are looked for in `directory`, under whatever name it is on
// the plugin path.
bool IsOnPluginPath(const discovery::Environment& environment,
                    const std::string& directory);

}  // namespace bulkhead::install
