// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// Returns the size that a file of these containers should have, 0 if it does
// not tell, as DeclaredSize() does:
//
// - RealMedia (rm): the size of the chunk with the packets, up to 18 bytes
//   less, since libavformat writes more than there is;
// - MXF: the place of the footer, if it is beyond the end;
// - GIF: the end of the block of a picture that begins in the file. A file
//   without the byte at its end is common and whole;
// - raw DV, YUV4MPEG2: the end of the last frame that begins in the file.
//
// The file is hostile.
int64_t DeclaredVideoSize(std::string_view container, FileWindow& file);

}  // namespace bulkhead::worker
