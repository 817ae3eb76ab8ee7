// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/examination.h"

#include <fmt/format.h>

#include "tools/cli/conformance/compare.h"

namespace bulkhead::cli::conformance {

const ExaminerOptions kFramesStayAndOneEnd = {{"bulkhead.hold-frames", "3"},
                                              {"bulkhead.end-twice", "1"}};

Verdict Examine(Subject& subject, const ReferenceClip& clip,
                const ExaminerOptions& options, const std::string& clause) {
  const auto host = subject.SharedHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip, {.backend_options = options});
  Verdict verdict = video ? CompareRest(*video, clip, 0, clause)
                          : FailedBy(video.error(), clause);
  if (verdict.passed()) verdict = CompareRestarts(*video, 0);
  if (verdict.passed()) return verdict;
  return Verdict::Failed(verdict.clause(), clip.name + ": " + verdict.words());
}

Verdict CompareFields(Subject& subject, const ReferenceClip& clip,
                      Fields which) {
  const auto fields = ReadFields(clip, which, subject.kept());
  if (!fields) return Verdict::NotTried(fields.error().message());
  return Examine(subject, clip, {{"bulkhead.expect", *fields}}, "frame-10");
}

}  // namespace bulkhead::cli::conformance
