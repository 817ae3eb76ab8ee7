// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/manifest.h"
#include "core/discovery/selection.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// The way in which the sessions of a backend start, and who decided so: kClone
// (a clone of the zygote) or kExec (each session loads the backend anew). The
// manifest can ask for kExec, the operator can require it, nobody can forbid
// it.
struct StartChoice {
  Manifest::Start start = Manifest::Start::kClone;
  std::string rule;  // Says who chose kExec; empty for kClone.
  // Set if kExec overrules the manifest's worker_scope = "backend": each
  // session then has a worker of its own.
  std::string warning;
};
// Chooses between kClone and kExec for `backend`.
StartChoice ChooseStart(const std::string& backend, const Manifest& manifest,
                        const Selection& selection);

// Adds a warning for each glob in the operator's list Selection::exec that
// matches none of the backends `names`: the operator may have mistyped it, and
// would believe the backend protected.
void WarnOfUnknownNames(const Selection& selection,
                        const std::vector<std::string>& names,
                        Diagnostics& diagnostics);

}  // namespace bulkhead::discovery
