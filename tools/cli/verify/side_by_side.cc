// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/verify/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/application/writers/picture.h"
#include "tools/cli/verify/picture_difference.h"

namespace bulkhead::cli::verify {
namespace {

using Answer = Result<std::optional<Frame>>;

Answer TimedNext(VideoDecoder& video, double& seconds) {
  const auto begin = std::chrono::steady_clock::now();
  Answer answer = video.Next();
  seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return answer;
}

bool IsDamage(const Answer& answer) {
  return !answer && answer.error().code() == Code::kBadInput;
}

// Returns a text for an answer that the other device's answer does not match:
// damage, a frame, or the end.
std::string InWords(const Answer& answer, const VideoDecoder& video) {
  const std::string& device = video.metadata().device;
  if (IsDamage(answer)) {
    return device + " calls it damaged: " + answer.error().message();
  }
  return device + (*answer ? " has it" : " is at its end");
}

// Returns how two frames differ, or an empty text if they are equal. Adds the
// difference to the lowest PSNR of the comparison.
std::string Differs(const Frame& a, const Frame& b, Comparison& comparison) {
  if (a.pts() != b.pts()) {
    return fmt::format("its time, {:.6f} s and {:.6f} s", a.pts_seconds(),
                       b.pts_seconds());
  }
  if (a.dtype() != b.dtype()) {
    return fmt::format("its numbers, {} and {}", writers::NameOf(a.dtype()),
                       writers::NameOf(b.dtype()));
  }
  const PictureDifference difference =
      Compare(writers::PictureOf(a), writers::PictureOf(b));
  if (difference.none()) return "";
  if (difference.sizes) {
    return fmt::format("its size, {}x{} and {}x{}", a.width(), a.height(),
                       b.width(), b.height());
  }
  comparison.lowest_psnr = std::min(
      comparison.lowest_psnr.value_or(*difference.psnr), *difference.psnr);
  return fmt::format("its picture, in {} of {} numbers, PSNR {:.1f} dB",
                     difference.numbers, difference.of, *difference.psnr);
}

// Counts a difference, and keeps it if it is the first. The index of its frame
// is the number of the frames before it, which are intact or damaged.
void Note(Comparison& comparison, double seconds, std::string words) {
  ++comparison.differing;
  if (comparison.first_difference) return;
  comparison.first_difference =
      FirstDifference{.frame = comparison.frames + comparison.refused,
                      .seconds = seconds,
                      .words = std::move(words)};
}

}  // namespace

Result<Comparison> CompareSideBySide(VideoDecoder& video, VideoDecoder& against,
                                     const std::function<void()>& seen) {
  Comparison comparison{.numbers = video.metadata().dtype};
  double last = 0;  // The time of the last frame from either device.
  for (;;) {
    const Answer a = TimedNext(video, comparison.seconds);
    const Answer b = TimedNext(against, comparison.against_seconds);
    if (!a && !IsDamage(a)) return a.error();
    if (!b && !IsDamage(b)) return b.error();
    seen();
    if (IsDamage(a) && IsDamage(b)) {
      ++comparison.refused;
      continue;
    }
    if (a && b && !*a && !*b) return comparison;
    if (a && b && *a && *b) {
      last = (*a)->pts_seconds();
      std::string words = Differs(**a, **b, comparison);
      if (!words.empty()) Note(comparison, last, std::move(words));
      ++comparison.frames;
      continue;
    }
    // The answers are of different kinds: a frame, damage, or the end. The next
    // answers might belong to different frames, so the comparison ends.
    comparison.complete = false;
    if (a && *a) last = (*a)->pts_seconds();
    if (b && *b) last = (*b)->pts_seconds();
    Note(comparison, last,
         "whether it is there: " + InWords(a, video) + ", " +
             InWords(b, against));
    return comparison;
  }
}

}  // namespace bulkhead::cli::verify
