// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/include/bulkhead/metadata.h"

namespace bulkhead::session {

// Returns "it needs 300 bytes and has 200, by the size of its segment", of a
// file that has `bytes` and should have `declared` (the worker's
// missing_end.h). `container` is the name of libavformat's demuxer.
std::string SizesOfCut(const std::string& container, int64_t declared,
                       int64_t bytes);

// Returns "; the file has become shorter since it was opened, from 300 to 200
// bytes", or "" if it has lost none of its `bytes`.
std::string Shortened(int64_t bytes, int64_t lost_bytes);

// Returns "; its header (Duration) tells 10.000000 s" if what is missing at the
// end was counted by the duration in the header, or else "".
std::string DurationOfCut(const std::string& container,
                          const StreamTiming& timing);

}  // namespace bulkhead::session
