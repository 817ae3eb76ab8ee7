// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker {

// Returns whether `packet` holds a whole picture that refers to no other one,
// with sound headers, so that a decoder either shows it or reports damage.
// `codec` is an AVCodecID: AV1, MPEG-1 and MPEG-2, MPEG-4 part 2, MJPEG or
// Theora; else the answer is false, as it is for rare forms of these codecs
// (layers of AV1, fields of MPEG-2 and of MJPEG in AVI). Reads only the headers
// that every decoder reads. The bytes are hostile; a wrong answer misleads the
// reader of one error message and nothing else.
bool HoldsKeyframe(int codec, const bulkhead_packet& packet);

}  // namespace bulkhead::worker
