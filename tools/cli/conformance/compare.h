// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstddef>
#include <functional>
#include <string>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"

namespace bulkhead::cli {

// Returns the verdict about an error of a call that should have succeeded. The
// clause is the one that the message names; otherwise a late call's, of a
// process that ended, or `clause`.
Verdict FailedBy(const Status& error, const std::string& clause);

// Compares frame `index` of a clip with what ffmpeg decodes: pictures that
// differ are against `clause`.
Verdict CompareFrame(const Frame& frame, const ReferenceClip& clip,
                     size_t index, const std::string& clause);

// Decodes from where `video` is to the end, and compares each frame, from
// number `first` on. Calls `before` with the number of each frame that is to
// come.
Verdict CompareRest(VideoDecoder& video, const ReferenceClip& clip,
                    size_t first, const std::string& clause,
                    const std::function<void(size_t)>& before = {});

// Fails if the decoder has lost more than `expected` workers: recovery hides
// from a caller what a vendor has to know.
Verdict CompareRestarts(const VideoDecoder& video, uint32_t expected);

}  // namespace bulkhead::cli
