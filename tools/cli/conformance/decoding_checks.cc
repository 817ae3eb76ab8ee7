// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/each_clip.h"
#include "tools/cli/conformance/examination.h"

namespace bulkhead::cli::conformance {
namespace {

bool HasCodec(const StreamCapability& stream, const std::string& codec) {
  return std::ranges::find(stream.codecs, codec) != stream.codecs.end();
}

// Returns the pixel formats that the device declares for a codec; none if it
// declares the codec without formats, that is, with any.
std::set<std::string> DeclaredFormats(const Subject& subject,
                                      const std::string& codec) {
  std::set<std::string> formats;
  for (const StreamCapability& stream : subject.DeclaredStreams("video")) {
    if (!HasCodec(stream, codec)) continue;
    if (stream.formats.empty()) return {};
    formats.insert(stream.formats.begin(), stream.formats.end());
  }
  return formats;
}

// Decodes the clip and compares it with ffmpeg's frames. If they are equal,
// adds the clip to the clips of later checks. If pictures differ, further
// passes look for the broken clause that explains it. A device that has not
// `declared` the codec may refuse the clip.
Verdict Decode(Subject& subject, const ReferenceClip& clip, bool declared) {
  const auto host = subject.SharedHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video && !declared && video.error().code() == Code::kUnsupported) {
    return Verdict::NotTried("the device does not decode it");
  }
  if (!video) return FailedBy(video.error(), "device-4");
  const std::string format = video->metadata().pixel_format;
  Verdict verdict = CompareRest(*video, clip, 0, "frame-10");
  if (verdict.passed()) verdict = CompareRestarts(*video, 0);
  if (verdict.clause() == "frame-10" || verdict.clause() == "frame-6") {
    // The worker may convert a frame while the decoder makes the next one. So a
    // backend that overwrites a frame too early (frame-5) shows as a wrong
    // picture; holding the frames proves it.
    const Verdict stays =
        Examine(subject, clip, {{"bulkhead.hold-frames", "3"}}, "frame-10");
    if (stays.clause() == "frame-5") return stays;
  }
  if (verdict.clause() == "frame-10") {
    // A wrong field, such as a colour space, makes wrong pixels. The verdict
    // names the field, if a field differs from ffprobe's.
    const Verdict fields = CompareFields(subject, clip, Fields::kColors);
    if (fields.kind() == Verdict::Kind::kFailed) return fields;
  }
  if (!verdict.passed()) return verdict;
  subject.AddClip(clip);
  const std::set<std::string> formats = DeclaredFormats(subject, clip.codec);
  if (formats.empty() || formats.contains(format)) return verdict;
  return Verdict::Failed(
      "device-4",
      fmt::format("the frames of {} are {}, and the device "
                  "declares {} for {}",
                  clip.name, format, fmt::join(formats, ", "), clip.codec));
}

// Decodes the clip with `cpu`, whose time is measured. The frames are compared
// only to do the same work as in Decode().
void DecodeOnReference(Subject& subject, const ReferenceClip& clip) {
  const auto reference = subject.Reference();
  if (!reference) return;
  const auto host = (*reference)->SharedHost();
  if (!host) return;
  auto video = (*reference)->Open(**host, clip);
  if (video) (void)CompareRest(*video, clip, 0, "frame-10");
}

// Decodes a file of --media, whose codec the device need not support, and which
// may be damaged.
Verdict DecodeFile(Subject& subject, const ReferenceClip& clip) {
  return TryClip(subject, clip, [](Subject& tried, const ReferenceClip& file) {
    return Decode(tried, file, false);
  });
}

// Returns the check that `decode` passes with the clip that `make` makes. The
// three functions of the check share the clip, which `prepare` makes.
Check DecodesClip(
    const std::string& name,
    const std::function<Verdict(Subject&, const ReferenceClip&)>& decode,
    const std::function<Result<ReferenceClip>(Subject&)>& make) {
  const auto clip = std::make_shared<Result<ReferenceClip>>(ReferenceClip());
  return {.name = "decodes " + name,
          .clause = "frame-10",
          .run =
              [clip, decode](Subject& subject) {
                if (*clip) return decode(subject, **clip);
                return Verdict::NotTried(clip->error().message());
              },
          .run_on_cpu =
              [clip](Subject& subject) {
                if (*clip) DecodeOnReference(subject, **clip);
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
                const auto host = subject.SharedHost();
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
                *clip = MakeClip(codec, subject.kept());
              }};
}

// Returns whether the device declares that it decodes this clip. For the plain
// clip of a codec, declaring the codec is enough. For other clips, the device
// must also declare the pixel format, and must not list certain profiles only.
bool Declares(const Subject& subject, const std::string& name,
              const std::string& codec) {
  for (const StreamCapability& stream : subject.DeclaredStreams("video")) {
    if (!HasCodec(stream, codec)) continue;
    if (name == codec) return true;
    const auto& formats = stream.formats;
    if (stream.profiles.empty() &&
        std::ranges::find(formats, PixelFormatOf(name)) != formats.end()) {
      return true;
    }
  }
  return false;
}

// Returns whether the device has decoded the plain clip of the codec correctly.
bool IsDecoded(const Subject& subject, const std::string& codec) {
  const auto& clips = subject.clips();
  return std::ranges::find(clips, codec, &ReferenceClip::name) != clips.end();
}

std::string DescribeLimits(const StreamCapability& stream) {
  const auto limit = [](uint32_t most) {
    return most == 0 ? "any" : fmt::format("{}", most);
  };
  return fmt::format("width {} and height {}", limit(stream.max_width),
                     limit(stream.max_height));
}

// Checks that the device decodes pictures of its declared maximum width, and of
// its maximum height. Without a declared limit, tries kWithoutLimit pixels. The
// other side has at most kNarrow pixels, so that encoding is fast.
Verdict DecodesDeclaredSizes(Subject& subject) {
  constexpr uint32_t kNarrow = 128;
  // The largest side that the encoders accept.
  constexpr uint32_t kMost = 16'384;
  constexpr uint32_t kWithoutLimit = 2'048;
  std::string untried;
  for (const StreamCapability& stream : subject.DeclaredStreams("video")) {
    for (const std::string& codec : stream.codecs) {
      for (const bool wide : {true, false}) {
        const uint32_t limit = wide ? stream.max_width : stream.max_height;
        // Without a limit, one of the two clips is enough.
        if (limit == 0 && !wide) continue;
        const uint32_t most = limit == 0 ? kWithoutLimit : limit;
        if (!IsDecoded(subject, codec)) continue;
        const uint32_t other = wide ? stream.max_height : stream.max_width;
        const uint32_t narrow = other == 0 ? kNarrow : std::min(kNarrow, other);
        // Encoders of 4:2:0 require even sizes.
        const uint32_t large = std::min(most, kMost) & ~1U;
        const auto clip = MakeClipOfSize(codec, wide ? large : narrow,
                                         wide ? narrow : large, subject.kept());
        if (!clip) {
          untried =
              fmt::format("ffmpeg makes no {} of {} pixels", codec, large);
          continue;
        }
        const auto host = subject.SharedHost();
        if (!host) return FailedBy(host.error(), "life-1");
        auto video = subject.Open(**host, *clip);
        const Verdict verdict =
            video ? CompareRest(*video, *clip, 0, "device-4")
                  : Verdict::Failed("device-4", video.error().message());
        if (verdict.passed()) continue;
        return Verdict::Failed(
            verdict.clause(),
            fmt::format("{} of {} is declared, and of {}x{}: {}", codec,
                        DescribeLimits(stream), clip->width, clip->height,
                        verdict.words()));
      }
    }
  }
  return untried.empty() ? Verdict::Passed() : Verdict::NotTried(untried);
}

// Returns a check that is never tried: a line of the report that names the
// declared codecs for which MakeClip has no clip.
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
  std::set<std::string> declared;
  for (const StreamCapability& stream : subject.DeclaredStreams("video")) {
    declared.insert(stream.codecs.begin(), stream.codecs.end());
  }
  std::set<std::string> others = declared;
  for (const ClipName& known : NamesOfClips()) others.erase(known.codec);
  std::vector<Check> checks;
  for (const auto& [name, codec] : clips) {
    const bool is_plain = name == codec;
    if (!declared.empty() && !declared.contains(codec)) {
      if (is_plain) checks.push_back(RefusesCodec(codec));
      continue;
    }
    // A device may decode only some profiles and formats of a codec.
    const bool must_decode = Declares(subject, name, codec);
    checks.push_back(DecodesClip(
        name,
        [must_decode](Subject& checked, const ReferenceClip& clip) {
          return Decode(checked, clip, must_decode);
        },
        [name = name](Subject& made_for) {
          return MakeClip(name, made_for.kept());
        }));
  }
  for (const std::string& path : media) {
    const std::string name = std::filesystem::path(path).filename().string();
    checks.push_back(
        DecodesClip(name, DecodeFile, [path, name](Subject& made_for) {
          return ReadReference(path, name, made_for.kept());
        }));
  }
  if (!declared.empty()) {
    checks.push_back({"decodes pictures as large as it declares", "device-4",
                      DecodesDeclaredSizes});
  }
  if (!others.empty()) checks.push_back(OtherCodecs(others));
  return checks;
}

}  // namespace bulkhead::cli::conformance
