// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/media/generated_clips.h"

namespace bulkhead::tests {

// Returns the path of the clip. Returns an empty string after it has skipped
// the running test because this machine has no ffmpeg, or has failed the test
// because ffmpeg cannot make the clip. The caller must then return.
std::string ClipOrSkip(Clip clip);

}  // namespace bulkhead::tests
