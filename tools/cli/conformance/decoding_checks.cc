// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"

namespace bulkhead::cli {
namespace {

// Decodes the clip and compares it. Keeps the clip for later checks if the
// device decodes its codec.
Verdict Decode(Subject& subject, const ReferenceClip& clip) {
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video && video.error().code() == Code::kUnsupported) {
    return Verdict::NotTried("the device does not decode it: " +
                             video.error().message());
  }
  if (!video) return FailedBy(video.error(), "device-4");
  Verdict verdict = CompareRest(*video, clip, 0, "frame-10");
  if (verdict.passed()) verdict = CompareRestarts(*video, 0);
  if (verdict.passed()) subject.AddClip(clip);
  return verdict;
}

void DecodeOnCpu(Subject& subject, const ReferenceClip& clip) {
  const auto host = subject.NewCpuHost();
  if (!host) return;
  auto video = subject.Open(**host, clip, {.device = "cpu"});
  if (video) CompareRest(*video, clip, 0, "frame-10");
}

// The clip is made in the first run, so that the time of its making counts for
// nobody: the runner asks for it before it starts the clock.
Check DecodesClip(const std::string& name,
                  std::function<Result<ReferenceClip>(Subject&)> make) {
  const auto clip = std::make_shared<Result<ReferenceClip>>(ReferenceClip());
  return {.name = "decodes " + name,
          .clause = "frame-10",
          .run =
              [clip](Subject& subject) {
                if (*clip) return Decode(subject, **clip);
                return Verdict::NotTried(clip->error().message());
              },
          .run_on_cpu =
              [clip](Subject& subject) {
                if (*clip) DecodeOnCpu(subject, **clip);
              },
          .prepare = [clip, make = std::move(make)](
                         Subject& subject) { *clip = make(subject); }};
}

}  // namespace

std::vector<Check> DecodingChecks(const std::vector<std::string>& codecs,
                                  const std::vector<std::string>& media) {
  std::vector<Check> checks;
  for (const std::string& codec : codecs) {
    checks.push_back(DecodesClip(codec, [codec](Subject& subject) {
      return MakeClip(codec, subject.scratch());
    }));
  }
  for (const std::string& path : media) {
    const std::string name = std::filesystem::path(path).filename().string();
    checks.push_back(DecodesClip(name, [path, name](Subject& subject) {
      return ReadReference(path, name, subject.scratch());
    }));
  }
  return checks;
}

}  // namespace bulkhead::cli
