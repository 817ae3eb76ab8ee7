// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <random>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/each_clip.h"
#include "tools/cli/conformance/reopening.h"

namespace bulkhead::cli::conformance {
namespace {

// Opens a clip with an option that no backend has. Opening must fail with
// kUnsupported, and the message must name the option.
Verdict RefusesAnUnknownOption(Subject& subject) {
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  const auto video =
      subject.Open(**host, subject.clips().front(),
                   {.backend_options = {{"no-such-option", "1"}}});
  if (video) {
    return Verdict::Failed("open-3", "open took the option no-such-option");
  }
  if (video.error().code() != Code::kUnsupported) {
    return FailedBy(video.error(), "open-3");
  }
  if (video.error().message().find("no-such-option") == std::string::npos) {
    return Verdict::Failed(
        "result-2", "the sentence about an unknown option does not name it: " +
                        video.error().message());
  }
  return Verdict::Passed();
}

// Opens a clip with a limit of one pixel less than its pictures have. Opening
// or the first frame must fail with kResourceExhausted.
Verdict RefusesLargerPictures(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost([&](HostOptions& options) {
    options.limits.frame_pixels = uint64_t{clip.width} * clip.height - 1;
  });
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  const Status status = video ? Status() : video.error();
  if (status.code() == Code::kResourceExhausted) return Verdict::Passed();
  if (!status.ok())
    return BlameReopeningIfItFails(FailedBy(status, "open-4"), subject);
  const auto frame = video->Next();
  if (frame) {
    return Verdict::Failed("open-4", "a picture beyond max_frame_pixels came");
  }
  if (frame.error().code() == Code::kResourceExhausted) {
    return Verdict::Passed();
  }
  return FailedBy(frame.error(), "open-4");
}

std::vector<char> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Decodes a damaged file to its end. Frames may be missing, and the file may be
// refused, but the worker must not end.
Verdict DecodeDamaged(Host& host, const std::string& device,
                      const std::string& path) {
  auto video =
      host.OpenVideo(path, {.device = device, .on_corrupt = OnCorrupt::kSkip});
  // The damage may have made the file unreadable.
  Status status = video ? Status() : video.error();
  while (status.ok()) {
    const auto frame = video->Next();
    if (!frame) status = frame.error();
    if (frame && !*frame) break;
  }
  if (status.code() == Code::kBadInput || status.code() == Code::kUnsupported ||
      status.code() == Code::kResourceExhausted) {
    status = Status();
  }
  if (!status.ok()) return FailedBy(status, "bad-1");
  return video ? CompareRestarts(*video, 0) : Verdict::Passed();
}

// Decodes twelve copies of the clip, each with 20 random bytes overwritten.
Verdict SurvivesDamageIn(Subject& subject, Host& host,
                         const ReferenceClip& clip) {
  constexpr int kFiles = 12;
  // The first and the last kHeader bytes stay intact. They hold most of the
  // container's headers, so that most wrong bytes hit packets.
  constexpr size_t kHeader = 1'000;
  const std::vector<char> sound = ReadFile(clip.path);
  if (sound.size() <= 2 * kHeader) {
    return Verdict::NotTried(clip.name + " has too few bytes");
  }
  std::mt19937 random(1);
  const auto below = [&](size_t end) {
    return std::uniform_int_distribution<size_t>(0, end - 1)(random);
  };
  for (int i = 0; i < kFiles; ++i) {
    std::vector<char> damaged = sound;
    for (size_t k = 0; k < 20; ++k) {
      const size_t at = kHeader + below(sound.size() - 2 * kHeader);
      constexpr size_t kBytes = 256;
      damaged[at] = static_cast<char>(below(kBytes));
    }
    const std::string path = subject.scratch() + "/damaged";
    std::ofstream(path, std::ios::binary)
        .write(damaged.data(), static_cast<std::streamsize>(damaged.size()));
    const Verdict verdict = DecodeDamaged(host, subject.device(), path);
    if (verdict.passed()) continue;
    return Verdict::Failed(
        verdict.clause(),
        fmt::format("{} with 20 wrong bytes (seed 1, file {}): {}", clip.name,
                    i, verdict.words()));
  }
  return Verdict::Passed();
}

Verdict SurvivesDamage(Subject& subject) {
  return TryEachClip(subject, [](Subject& tried, const ReferenceClip& clip) {
    const auto host = tried.SharedHost();
    if (!host) return FailedBy(host.error(), "life-1");
    return BlameReopeningIfItFails(SurvivesDamageIn(tried, **host, clip),
                                   tried);
  });
}

// Cancels a call in the middle of the clip. Afterwards the same decoder must
// deliver the rest of the clip.
Verdict CanBeCancelled(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video) return FailedBy(video.error(), "open-1");
  const size_t half = clip.frames.size() / 2;
  for (size_t index = 0; index < half; ++index) {
    const auto frame = video->Next();
    if (!frame) return FailedBy(frame.error(), "send-3");
  }
  video->Cancel();
  const auto cancelled = video->Next();
  if (cancelled || cancelled.error().code() != Code::kCancelled) {
    return Verdict::Failed("life-4", "Next() went on after Cancel()");
  }
  return CompareRest(*video, clip, half, "life-4");
}

}  // namespace

std::vector<Check> ErrorChecks() {
  return {
      {"refuses an unknown option, and names it", "open-3",
       RefusesAnUnknownOption},
      {"refuses pictures beyond the limit", "open-4", RefusesLargerPictures},
      {"survives damaged packets", "life-5", SurvivesDamage},
      {"goes on after a cancelled call", "life-4", CanBeCancelled},
  };
}

}  // namespace bulkhead::cli::conformance
