// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"

namespace bulkhead::cli {
namespace {

// Decodes the clip and compares it, and keeps it for later checks. `declared`:
// the device says that it decodes the codec.
Verdict Decode(Subject& subject, const ReferenceClip& clip, bool declared) {
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video && !declared && video.error().code() == Code::kUnsupported) {
    return Verdict::NotTried("the device does not decode it");
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

Check DecodesClip(const std::string& name, bool declared,
                  const std::function<Result<ReferenceClip>(Subject&)>& make) {
  const auto clip = std::make_shared<Result<ReferenceClip>>(ReferenceClip());
  return {.name = "decodes " + name,
          .clause = "frame-10",
          .run =
              [clip, declared](Subject& subject) {
                if (*clip) return Decode(subject, **clip, declared);
                return Verdict::NotTried(clip->error().message());
              },
          .run_on_cpu =
              [clip](Subject& subject) {
                if (*clip) DecodeOnCpu(subject, **clip);
              },
          .prepare = [clip, make](Subject& subject) { *clip = make(subject); }};
}

// Checks that the device refuses a codec that it does not declare.
Check RefusesCodec(const std::string& codec) {
  const auto clip = std::make_shared<Result<ReferenceClip>>(ReferenceClip());
  return {.name = "refuses " + codec + ", which it does not declare",
          .clause = "device-3",
          .run =
              [clip](Subject& subject) {
                if (!*clip) return Verdict::NotTried(clip->error().message());
                const auto host = subject.NewHost();
                if (!host) return FailedBy(host.error(), "life-1");
                const auto video = subject.Open(**host, **clip);
                if (video) {
                  return Verdict::Failed("device-3",
                                         "open took " + (*clip)->name);
                }
                return video.error().code() == Code::kUnsupported
                           ? Verdict::Passed()
                           : FailedBy(video.error(), "device-3");
              },
          .prepare =
              [clip, codec](Subject& subject) {
                *clip = MakeClip(codec, subject.scratch());
              }};
}

// Returns the codecs of videos that the device declares; none if it declares
// nothing.
std::set<std::string> DeclaredBy(const Subject& subject) {
  std::set<std::string> codecs;
  for (const DeviceInfo& device : subject.backend().devices) {
    if (device.name != subject.device()) continue;
    for (const StreamCapability& stream : device.capabilities.streams) {
      if (stream.kind != "video") continue;
      codecs.insert(stream.codecs.begin(), stream.codecs.end());
    }
  }
  return codecs;
}

// Tells of the declared codecs of which there is no clip.
Check OtherCodecs(const std::set<std::string>& others) {
  std::string names;
  constexpr size_t kNamed = 8;
  size_t named = 0;
  for (const std::string& codec : others) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + codec;
  }
  if (others.size() > kNamed) names += ", ...";
  const std::string words = fmt::format(
      "{}: there are no clips of these; give files with --media DIR", names);
  return {
      fmt::format("decodes {} other codecs that it declares", others.size()),
      "device-4", [words](Subject&) { return Verdict::NotTried(words); }};
}

}  // namespace

std::vector<Check> DecodingChecks(const Subject& subject,
                                  const std::vector<ClipName>& clips,
                                  const std::vector<std::string>& media) {
  const std::set<std::string> declared = DeclaredBy(subject);
  std::set<std::string> others = declared;
  for (const ClipName& known : NamesOfClips()) others.erase(known.codec);
  std::vector<Check> checks;
  for (const auto& [name, codec] : clips) {
    const bool is_plain = name == codec;
    if (!declared.empty() && !declared.contains(codec)) {
      if (is_plain) checks.push_back(RefusesCodec(codec));
      continue;
    }
    // A device need not decode each profile and format of a codec.
    checks.push_back(DecodesClip(name, is_plain && !declared.empty(),
                                 [name](Subject& made_for) {
                                   return MakeClip(name, made_for.scratch());
                                 }));
  }
  for (const std::string& path : media) {
    const std::string name = std::filesystem::path(path).filename().string();
    checks.push_back(DecodesClip(name, false, [path, name](Subject& made_for) {
      return ReadReference(path, name, made_for.scratch());
    }));
  }
  if (!others.empty()) checks.push_back(OtherCodecs(others));
  return checks;
}

}  // namespace bulkhead::cli
