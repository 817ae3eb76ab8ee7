// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <cstddef>
#include <functional>
#include <string>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"

namespace bulkhead::cli::conformance {

// Returns the failed verdict for a call that returned `error` instead of
// success. Its clause is the first of these that exists:
// - the clause that the message of `error` names
// - the clause for a passed deadline, or for the way in which the worker ended
// - `clause`
Verdict FailedBy(const Status& error, const std::string& clause);

// Compares `frame` with ffmpeg's frame number `index` of the clip: size,
// timestamp and pixels. Different pixels are a breach of `clause`.
Verdict CompareFrame(const Frame& frame, const ReferenceClip& clip,
                     size_t index, const std::string& clause);

// Decodes the remaining frames of `video`, which begin with frame `first` of
// the clip, and compares each with ffmpeg's. Before each Next(), calls `before`
// with the index of the frame that Next() should return.
Verdict CompareRest(VideoDecoder& video, const ReferenceClip& clip,
                    size_t first, const std::string& clause,
                    const std::function<void(size_t)>& before = {});

// Fails if the decoder has lost more than `expected` workers. The library
// replaces lost workers without an error, but a vendor has to know of each.
Verdict CompareRestarts(const VideoDecoder& video, uint32_t expected);

}  // namespace bulkhead::cli::conformance
