// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/include/bulkhead/metadata.h"

namespace bulkhead::session {

// Functions that return parts of error messages about a file that lacks its
// end. `container` is the name of libavformat's demuxer.

// Describes a file that is cut off: "it needs 300 bytes and has 200, by the
// size of its segment". `bytes` is the size of the file and `declared` the size
// that its headers state (missing_end.h in the worker).
std::string SizesOfCut(const std::string& container, int64_t declared,
                       int64_t bytes);

// Returns "; the file has become shorter since it was opened, from 300 to 200
// bytes", or "" if `lost_bytes` is 0. `bytes` is the size when it was opened.
std::string Shortened(int64_t bytes, int64_t lost_bytes);

// Returns "; its header (Duration) says 10.000000 s" if the container's header
// has a field for the duration and states it. If not, returns "".
std::string DurationOfCut(const std::string& container,
                          const StreamTiming& timing);

}  // namespace bulkhead::session
