// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// Where distributions are installed: in `chosen`, made absolute, or, if that is
// empty, for root (`uid` 0) in /usr/local/lib/bulkhead, for others in
// $XDG_DATA_HOME/bulkhead or ~/.local/share/bulkhead. The latter are searched
// by default. kInvalidArgument if there is no home.
Result<std::string> PluginDirectory(const std::string& chosen,
                                    const discovery::Environment& environment,
                                    unsigned uid);

// Whether backends are looked for in `directory`, under whatever name it is on
// the plugin path.
bool IsOnPluginPath(const discovery::Environment& environment,
                    const std::string& directory);

}  // namespace bulkhead::install
