// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/manifest.h"
#include "core/discovery/selection.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// How the sessions of a backend start, and who decided so: the manifest can ask
// for kExec, and the operator can require it. Nobody can take it away.
struct StartChoice {
  Manifest::Start start = Manifest::Start::kClone;
  std::string rule;     // Who chose kExec, for people; empty for kClone.
  std::string warning;  // What the choice overrules; may be empty.
};
StartChoice ChooseStart(const std::string& backend, const Manifest& manifest,
                        const Selection& selection);

// Adds a warning for each glob with which the operator requires kExec and that
// matches none of the backends `names`: a mistyped name protects nobody.
void WarnOfUnknownNames(const Selection& selection,
                        const std::vector<std::string>& names,
                        Diagnostics& diagnostics);

}  // namespace bulkhead::discovery
