// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "tools/install/staging.h"

namespace bulkhead::install {

// Unpacks the wheel at `path` below the empty directory `staging`, verifying
// everything that a wheel says about itself. Nothing in it is run or loaded.
//
//   1. The file name is a wheel's and made for this machine (wheel_name.h).
//   2. It is an intact zip file without anything odd in it (archive.h).
//   3. There is one NAME-VERSION.dist-info, those of the file name.
//   4. WHEEL says a Wheel-Version that is known: another major is refused,
//      a newer minor is a warning.
//   5. RECORD lists every file but itself and its signatures, and no other,
//      each with size and a hash of sha256 or better, and the files agree.
//
// NAME-VERSION.data/purelib and platlib are spread into the root, and `files`
// says where to. Its scripts, headers and data belong into places that a plugin
// directory does not have: verified, left out and reported.
//
// Fails with kBadInput for a wheel that is not as it should be, kUnsupported
// for one made for something else, kNotFound and kInvalidArgument for a path
// that names none. Takes time linear in the wheel.
Result<Staged> StageWheel(const std::string& path, int staging);

}  // namespace bulkhead::install
