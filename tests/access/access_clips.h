// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// Clips whose frames are hard to find: pictures out of order, keyframes that
// are no clean place to begin, timestamps that are missing, late, uneven or
// wrong. The ffmpeg program makes them, small and short.
std::vector<std::string> AccessClips();

// Path of the clip, made once a test program. kNotFound: no ffmpeg on this
// machine; kUnsupported: it cannot make this one.
Result<std::string> MakeAccessClip(const std::string& name);

}  // namespace bulkhead::tests
