// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli {

// Decodes a stream that begins anew, in a decoder that was opened after another
// one was closed. A process that ends here, though it decodes the clip once, is
// against close-1.
Verdict BeginsAnew(Subject& subject, const ReferenceClip& clip);

// Returns a verdict about a process that ended (life-5) as one against close-1
// if it ends wherever a decoder is closed.
Verdict UnlessInClose(const Verdict& verdict, Subject& subject);

// Returns `verdict`, in which life-5 stands for close-1: nothing but a decoder
// that is closed and opened again is new in what was tried.
Verdict OfClose(const Verdict& verdict);

}  // namespace bulkhead::cli
