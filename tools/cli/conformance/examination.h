// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli::conformance {

// Options of a stream, with keys that begin with "bulkhead.". They make the
// worker's examiner (backends/worker/media/decode/examiner.h) verify what the
// decoder does in calls of the ABI, or provoke rare situations.
using ExaminerOptions = std::vector<std::pair<std::string, std::string>>;

// Makes the worker hold each frame until three more have come, and send the end
// of the stream twice. A correct backend then decodes the same frames as
// without these options.
extern const ExaminerOptions kFramesStayAndOneEnd;

// Decodes a clip with `options` and compares each frame with ffmpeg's. A frame
// that differs, or a failure, is a breach of `clause`.
Verdict Examine(Subject& subject, const ReferenceClip& clip,
                const ExaminerOptions& options, const std::string& clause);

// Compares the fields `which` of bulkhead_frame with the values that ffprobe
// prints for the clip. Returns kNotTried if ffprobe fails.
Verdict CompareFields(Subject& subject, const ReferenceClip& clip,
                      Fields which);

}  // namespace bulkhead::cli::conformance
