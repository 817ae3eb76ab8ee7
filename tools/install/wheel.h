// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "tools/install/staging.h"

namespace bulkhead::install {

// Unpacks the wheel at `path` into the empty directory `staging` and verifies
// everything that the wheel says about itself. Runs no code of the wheel.
//
//   1. The file name is valid and names this platform (wheel_name.h).
//   2. The file is an intact zip file without special entries (archive.h).
//   3. It has one dist-info folder, with the name and version of the file name.
//   4. WHEEL has a known Wheel-Version: another major version is refused, and
//      a newer minor version is a warning.
//   5. RECORD lists every file except itself and its signatures, and no other
//      file; each has the listed size and a listed hash of sha256 or stronger.
//
// Files below NAME-VERSION.data/purelib and platlib are unpacked into `staging`
// itself; Staged::files has their new paths. Other files of NAME-VERSION.data,
// such as scripts and headers, have no place in a plugin directory: they are
// verified, left out and reported by a diagnostic.
//
// Returns kBadInput for a malformed wheel, kUnsupported for a wheel of another
// platform or Wheel-Version, and kNotFound or kInvalidArgument if `path` does
// not name a wheel. Takes time linear in the size of the wheel.
Result<Staged> StageWheel(const std::string& path, int staging);

}  // namespace bulkhead::install
