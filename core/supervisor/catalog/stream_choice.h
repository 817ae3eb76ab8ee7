// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/manifest.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/catalog/backend_roster.h"

namespace bulkhead::catalog {

// Functions that SessionOpening calls before `backend` gets a session. They use
// the manifests and devices of all `usable` backends.

// Fails with kUnsupported if the manifest of `backend` says that it does not
// decode streams of this kind. The message names the devices that do.
Status CheckDecodes(const std::vector<BackendPointer>& usable,
                    const backend::Backend& backend,
                    discovery::StreamKind kind);

// Returns the device whose worker should first examine the input: `backend`
// should not be started in vain for a codec that it does not decode. Returns an
// empty string if `backend` starts or is ready, or does not declare its codecs.
// Names only devices of Bulkhead's own backends: no vendor but the chosen one
// gets the input.
std::string DescriberFor(const std::vector<BackendPointer>& usable,
                         const backend::Backend& backend);

}  // namespace bulkhead::catalog
