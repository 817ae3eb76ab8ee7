// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli::conformance {

// A check of one clip, which can be repeated with other clips. Returns the
// verdict for the clip.
using ClipCheck = std::function<Verdict(Subject&, const ReferenceClip&)>;

// Runs `check` with one clip. If the check fails with a file of --media, runs
// it again with the reference backend `cpu`. If `cpu` fails too, probably
// because of the file, the verdict is kNotTried, with cpu's failure as reason.
Verdict TryClip(Subject& subject, const ReferenceClip& clip,
                const ClipCheck& check);

// Runs `check` with each clip that the device has decoded, and returns the
// first failure. If there is no failure, returns kPassed if the check passed
// with any clip, else kNotTried.
Verdict TryEachClip(Subject& subject, const ClipCheck& check);

}  // namespace bulkhead::cli::conformance
