// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli::conformance {

// Functions that decide which clause a backend has broken when a worker dies:
// - close-1, if the worker dies because it closes the vendor's decoder and
//   opens another one
// - life-5, in all other cases

// Decodes a frame, rewinds, and then compares the whole clip. To rewind, the
// worker closes the decoder and opens another one. If the worker dies then, the
// verdict names close-1. The device must have decoded the clip once before.
Verdict TryReopening(Subject& subject, const ReferenceClip& clip);

// If the clause of `verdict` is life-5, calls TryReopening() with the first
// clip. If that fails with close-1, returns `verdict` with the clause close-1.
// In all other cases, returns `verdict` as it is.
Verdict BlameReopeningIfItFails(const Verdict& verdict, Subject& subject);

// If the clause of `verdict` is life-5, returns `verdict` with the clause
// close-1, else as it is. For a check that repeats the work of a passed check
// and also closes and reopens the decoder.
Verdict BlameReopening(const Verdict& verdict);

}  // namespace bulkhead::cli::conformance
