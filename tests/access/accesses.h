// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"

namespace bulkhead::tests {

// Asks `video` for frames by number, in four orders: from the last one down,
// from the first one up, at random places, and the neighbours of random places.
// Each order has at most `each` frames. Expects that each is the frame which
// the pass showed, and that the frames are as many as in the pass.
void ExpectAccesses(VideoDecoder& video, const std::vector<SeenFrame>& frames,
                    size_t each);

// Does the same with batches: frames of a list, every second frame of a range,
// and those on the screen between two times.
void ExpectBatches(VideoDecoder& video, const std::vector<SeenFrame>& frames,
                   size_t each);

}  // namespace bulkhead::tests
