// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli {

// Options of the stream that begin with "bulkhead.": what the worker looks at,
// or provokes, besides decoding (backends/worker/media/decode/examiner.h).
using ExaminerOptions = std::vector<std::pair<std::string, std::string>>;

// Gives frames back after three others, and sends the end of the stream twice:
// that changes nothing.
extern const ExaminerOptions kFramesStayAndOneEnd;

// Decodes a clip under the eyes of the worker's examiner, and compares each
// frame: what differs from a plain pass is against `clause`.
Verdict Examine(Subject& subject, const ReferenceClip& clip,
                const ExaminerOptions& options, const std::string& clause);

// Fails if a field of a frame is another one than ffprobe prints. Not tried if
// ffprobe says nothing. `which` chooses the fields.
Verdict CompareFields(Subject& subject, const ReferenceClip& clip,
                      Fields which);

}  // namespace bulkhead::cli
