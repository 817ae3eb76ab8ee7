// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli::conformance {

// Functions that decide which clause is broken when a worker dies: close-1 if
// the cause is that the vendor's decoder is closed and opened again, and life-5
// for any other cause.

// Decodes a frame, rewinds, and then compares the whole clip. To rewind, the
// worker closes the decoder and opens another one. If the worker dies then, the
// verdict names close-1. The device must have decoded the clip once before.
Verdict TryReopening(Subject& subject, const ReferenceClip& clip);

// If the clause of `verdict` is life-5, and TryReopening() with the first clip
// fails with close-1, returns `verdict` with the clause close-1. In all other
// cases, returns `verdict` as it is.
Verdict BlameReopeningIfItFails(const Verdict& verdict, Subject& subject);

// Returns `verdict` with the clause close-1 instead of life-5. For a check that
// repeats a passed check and, in addition, closes and reopens the decoder.
Verdict BlameReopening(const Verdict& verdict);

}  // namespace bulkhead::cli::conformance
