// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/reopening.h"

#include "tools/cli/conformance/compare.h"

namespace bulkhead::cli::conformance {

Verdict BlameReopening(const Verdict& verdict) {
  return verdict.clause() == "life-5"
             ? Verdict::Failed("close-1", verdict.words())
             : verdict;
}

Verdict TryReopening(Subject& subject, const ReferenceClip& clip) {
  const auto host = subject.SharedHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video) return FailedBy(video.error(), "open-1");
  const auto first = video->Next();
  if (!first) return BlameReopening(FailedBy(first.error(), "close-1"));
  video->Rewind();
  Verdict verdict = CompareRest(*video, clip, 0, "close-1");
  if (verdict.passed()) verdict = CompareRestarts(*video, 0);
  return BlameReopening(verdict);
}

Verdict BlameReopeningIfItFails(const Verdict& verdict, Subject& subject) {
  if (verdict.clause() != "life-5") return verdict;
  subject.ForgetHost();
  const Verdict anew = TryReopening(subject, subject.clips().front());
  return anew.clause() == "close-1"
             ? Verdict::Failed("close-1", verdict.words())
             : verdict;
}

}  // namespace bulkhead::cli::conformance
