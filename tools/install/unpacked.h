// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "tools/install/staging.h"

namespace bulkhead::install {

// Copies an unpacked distribution, as a build or another installer leaves it,
// into the empty directory `staging`. `path` is its dist-info folder, or a
// folder that contains exactly one dist-info folder. Copies the files that
// RECORD lists and verifies each like a file of a wheel; ignores other files.
// Leaves out two kinds of files: those without a hash or size in RECORD, such
// as bytecode written by Python, and those whose path leads out of the folder,
// such as scripts. A diagnostic reports each of them except bytecode. Follows
// links that stay inside of the folder.
//
// Fails with the same codes as StageWheel.
Result<Staged> StageUnpacked(const std::string& path, int staging);

}  // namespace bulkhead::install
