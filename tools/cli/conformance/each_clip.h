// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli {

// Tries something with one clip and returns what came of it.
using ClipCheck = std::function<Verdict(Subject&, const ReferenceClip&)>;

// Tries `check` with a clip. A failure with a file of --media says nothing of
// the backend if `cpu`, the reference, fails in the same file: it is not tried
// then, with the reason.
Verdict TryClip(Subject& subject, const ReferenceClip& clip,
                const ClipCheck& check);

// Tries `check` with all clips that the device has decoded, up to the first
// that fails. Not tried if no clip was.
Verdict TryEachClip(Subject& subject, const ClipCheck& check);

}  // namespace bulkhead::cli
