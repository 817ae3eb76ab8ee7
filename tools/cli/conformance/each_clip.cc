// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/each_clip.h"

#include <utility>

namespace bulkhead::cli::conformance {
namespace {

// Returns the verdict of the check with the reference backend `cpu`.
Verdict TryWithReference(Subject& subject, const ReferenceClip& clip,
                         const ClipCheck& check) {
  const auto reference = subject.Reference();
  if (!reference) return Verdict::NotTried(reference.error().message());
  Verdict verdict = check(**reference, clip);
  if (!verdict.passed()) (*reference)->ForgetHost();
  return verdict;
}

}  // namespace

Verdict TryClip(Subject& subject, const ReferenceClip& clip,
                const ClipCheck& check) {
  Verdict verdict = check(subject, clip);
  if (verdict.kind() != Verdict::Kind::kFailed || clip.made) return verdict;
  // The verdict of the same check with `cpu`, which may be the subject itself.
  const Verdict reference = subject.backend().name == "cpu"
                                ? verdict
                                : TryWithReference(subject, clip, check);
  if (reference.kind() != Verdict::Kind::kFailed) return verdict;
  subject.ForgetHost();
  return Verdict::NotTried("cpu, the reference, fails on it as well: " +
                           reference.words());
}

Verdict TryEachClip(Subject& subject, const ClipCheck& check) {
  Verdict all = Verdict::NotTried("no clip was decoded before");
  for (const ReferenceClip& clip : subject.clips()) {
    Verdict verdict = TryClip(subject, clip, check);
    if (verdict.kind() == Verdict::Kind::kFailed) return verdict;
    // The result is "passed" if any clip passed, even if others were not tried.
    if (!all.passed()) all = std::move(verdict);
  }
  return all;
}

}  // namespace bulkhead::cli::conformance
