// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// Returns the names of the clips whose frames are hard to find: pictures out of
// order, keyframes that are no clean place to begin, timestamps that are
// missing, late, uneven or wrong. The ffmpeg program makes the clips, small and
// short.
std::vector<std::string> AccessClips();

// Returns the path of the clip `name`. Each test program makes a clip at most
// once. Returns kNotFound if this machine has no ffmpeg, and kUnsupported if
// ffmpeg cannot make this clip.
Result<std::string> MakeAccessClip(const std::string& name);

}  // namespace bulkhead::tests
