// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/sample_clip.h"

namespace bulkhead::benchmark {

// The path of such a clip, made once and kept in the user's cache directory:
// encoding takes longer than all that is measured.
Result<std::string> CachedClip(const cli::SampleClip& clip);

}  // namespace bulkhead::benchmark
