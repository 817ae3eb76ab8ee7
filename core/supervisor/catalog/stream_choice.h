// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/manifest.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/catalog/backend_roster.h"

namespace bulkhead::catalog {

// Says what the manifests of all usable backends state of a stream that one of
// them, `backend`, is asked to decode.

// Fails with kUnsupported if the backend's manifest says that it does not
// decode such streams. The message names the devices that do.
Status CheckDecodes(const std::vector<BackendPointer>& usable,
                    const backend::Backend& backend,
                    discovery::StreamKind kind);

// Returns the device whose worker can say what an input is before `backend` is
// started for it; empty if the backend runs already or does not say what it
// decodes. Only devices of Bulkhead's own backends are named: the caller lets
// no other vendor's process read the input than the one it chose.
std::string DescriberFor(const std::vector<BackendPointer>& usable,
                         const backend::Backend& backend);

}  // namespace bulkhead::catalog
