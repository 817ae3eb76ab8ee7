// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/compare.h"

#include <fmt/format.h>

#include <optional>

#include "core/application/writers/md5.h"
#include "core/application/writers/picture.h"
#include "tools/cli/conformance/clauses.h"

namespace bulkhead::cli::conformance {
namespace {

// The clause of a pass from the first frame to the last, without seeks. In such
// a pass, a missing frame is a breach of send-3, not of this clause.
constexpr char kPicture[] = "frame-10";

std::string Ticks(const std::optional<int64_t>& pts) {
  return pts ? fmt::format("{}", *pts) : "none";
}

// Returns the clause that the worker broke by the way in which it ended, or an
// empty text if no worker ended.
std::string ClauseOfEnd(const Status& error) {
  if (error.code() == Code::kDeadlineExceeded) return "result-4";
  if (error.exit_report() == nullptr) return "";
  switch (error.exit_report()->kind) {
    case ExitReport::Kind::kDeadline:
      return "result-4";
    case ExitReport::Kind::kSandboxViolation:
      return "life-3";
    case ExitReport::Kind::kOutOfMemory:
      return "memory-1";
    case ExitReport::Kind::kUnknown:
    case ExitReport::Kind::kExited:
    case ExitReport::Kind::kSignaled:
      return "life-5";
    case ExitReport::Kind::kProtocolViolation:
      return "";
  }
  return "";
}

}  // namespace

Verdict FailedBy(const Status& error, const std::string& clause) {
  std::string named = ClauseNamedIn(error.message());
  if (named.empty()) named = ClauseOfEnd(error);
  return Verdict::Failed(named.empty() ? clause : named, error.message());
}

Verdict CompareFrame(const Frame& frame, const ReferenceClip& clip,
                     size_t index, const std::string& clause) {
  const ReferenceClip::Frame& wanted = clip.frames[index];
  if (frame.width() != clip.width || frame.height() != clip.height) {
    return Verdict::Failed(
        "frame-1", fmt::format("frame {} of {} has {}x{} pixels, not {}x{}",
                               index, clip.name, frame.width(), frame.height(),
                               clip.width, clip.height));
  }
  if (frame.pts() != wanted.pts) {
    return Verdict::Failed(
        "frame-6",
        fmt::format("frame {} of {} has the timestamp {}, not {}", index,
                    clip.name, Ticks(frame.pts()), Ticks(wanted.pts)));
  }
  const writers::Picture picture = writers::PictureOf(frame);
  const std::string md5 =
      clip.deep ? writers::Md5As16Bits(picture) : writers::Md5(picture);
  if (md5 == wanted.md5) return Verdict::Passed();
  // In a pass from the first frame (kPicture), all earlier frames were right.
  // So if this is the picture of a later frame, the decoder has given that
  // picture a wrong timestamp (frame-6).
  for (size_t later = index + 1; later < clip.frames.size(); ++later) {
    if (clause != kPicture || clip.frames[later].md5 != md5) continue;
    return Verdict::Failed(
        "frame-6", fmt::format("frame {} of {} has the picture of frame {}",
                               index, clip.name, later));
  }
  return Verdict::Failed(
      clause,
      fmt::format("frame {} of {} has another picture than with ffmpeg, "
                  "compared as RGB of {} bits",
                  index, clip.name, clip.deep ? 16 : 8));
}

Verdict CompareRest(VideoDecoder& video, const ReferenceClip& clip,
                    size_t first, const std::string& clause,
                    const std::function<void(size_t)>& before) {
  for (size_t index = first;; ++index) {
    if (before) before(index);
    Result<std::optional<Frame>> frame = video.Next();
    if (!frame) {
      return FailedBy(frame.error(), clause == kPicture ? "send-3" : clause);
    }
    if (!*frame) {
      if (index == clip.frames.size()) return Verdict::Passed();
      return Verdict::Failed(
          "send-3", fmt::format("{} has {} frames, and {} came", clip.name,
                                clip.frames.size(), index));
    }
    if (index >= clip.frames.size()) {
      return Verdict::Failed(
          "send-2", fmt::format("{} has {} frames, and more came", clip.name,
                                clip.frames.size()));
    }
    Verdict verdict = CompareFrame(**frame, clip, index, clause);
    if (!verdict.passed()) return verdict;
  }
}

Verdict CompareRestarts(const VideoDecoder& video, uint32_t expected) {
  const RecoveryStats stats = video.recovery();
  if (stats.restarts <= expected) return Verdict::Passed();
  const std::string named = ClauseNamedIn(stats.last_cause);
  const bool was_late =
      stats.last_cause.find("took too long") != std::string::npos;
  return Verdict::Failed(
      !named.empty() ? named
      : was_late     ? "result-4"
                     : "life-5",
      fmt::format("the process of the stream ended {} times, at last: {}",
                  stats.restarts - expected, stats.last_cause));
}

}  // namespace bulkhead::cli::conformance
