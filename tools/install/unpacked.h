// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "tools/install/staging.h"

namespace bulkhead::install {

// Copies an unpacked distribution, as a build or another installer leaves it,
// into the empty directory `staging`. `path` is its dist-info folder, or the
// folder that contains that and no other dist-info folder. Copies the files
// that RECORD lists and verifies each like a file of a wheel; ignores other
// files. Leaves out lines without a hash (bytecode written by Python), and,
// with a diagnostic, lines that lead out of the folder (scripts). Follows links
// that stay inside of the folder.
//
// Fails with the same codes as StageWheel.
Result<Staged> StageUnpacked(const std::string& path, int staging);

}  // namespace bulkhead::install
