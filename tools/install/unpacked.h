// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "tools/install/staging.h"

namespace bulkhead::install {

// Copies a distribution that lies unpacked, as a build or another installer
// leaves it, below the empty directory `staging`. `path` is its dist-info
// folder, or the folder that holds it and no other. What is copied are the
// files that RECORD lists, each verified as those of a wheel are; files beside
// them are nobody's. Lines without a hash (bytecode that Python has written)
// and lines that lead out of the folder (scripts) are left out, the latter
// reported. Links are followed as long as they stay inside of the folder.
//
// Failures as of StageWheel.
Result<Staged> StageUnpacked(const std::string& path, int staging);

}  // namespace bulkhead::install
