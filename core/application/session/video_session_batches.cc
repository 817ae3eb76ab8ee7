// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <variant>

#include "core/application/frames/frame_selection.h"
#include "core/application/session/video_session.h"
#include "core/base/status_macros.h"
#include "ipc/limit_name.h"

// Batches: what a VideoSession returns for a choice of many frames.
namespace bulkhead::session {

Status VideoSession::CheckBatches() const {
  if (!native()) return Status();
  return Status(Code::kInvalidArgument,
                input().name() +
                    ": a batch is one block of RGB pictures, and the frames "
                    "are native planes; ask for one frame after the other, "
                    "or open the stream with OutputFormat::kRgb "
                    "(output_format=\"rgb\" in Python)");
}

Status VideoSession::CheckSize(const Frame& frame) const {
  if (frame.width() == metadata_.width && frame.height() == metadata_.height) {
    return Status();
  }
  return Status(Code::kInvalidArgument,
                input().name() + ": frame " + std::to_string(frame.index()) +
                    " has " + std::to_string(frame.width()) + "x" +
                    std::to_string(frame.height()) +
                    " pixels, and the pictures of a batch have those of the "
                    "first frame, " +
                    std::to_string(metadata_.width) + "x" +
                    std::to_string(metadata_.height) +
                    "; ask for one frame after the other, or leave autoscale "
                    "on");
}

Result<FrameBatch> VideoSession::FramesAt(std::span<const int64_t> indices,
                                          std::span<std::byte> into) {
  RETURN_IF_ERROR(CheckBatches());
  RETURN_IF_ERROR(EnsureIndex());
  return FetchBatch(ResolveIndices(indices, finder_->index().size()), into);
}

Result<FrameBatch> VideoSession::FramesInRange(int64_t start,
                                               std::optional<int64_t> stop,
                                               int64_t step,
                                               std::span<std::byte> into) {
  RETURN_IF_ERROR(CheckBatches());
  RETURN_IF_ERROR(EnsureIndex());
  return FetchBatch(ResolveSlice(start, stop, step, finder_->index().size()),
                    into);
}

Result<FrameBatch> VideoSession::FramesPlayedAt(std::span<const double> seconds,
                                                std::span<std::byte> into) {
  RETURN_IF_ERROR(CheckBatches());
  RETURN_IF_ERROR(EnsureTimes());
  return FetchBatch(times_->PlayedAt(seconds), into);
}

Result<FrameBatch> VideoSession::FramesPlayedInRange(
    double start, double stop, std::optional<double> fps,
    std::span<std::byte> into) {
  RETURN_IF_ERROR(CheckBatches());
  RETURN_IF_ERROR(EnsureTimes());
  return FetchBatch(times_->PlayedInRange(start, stop, fps, MostFrames()),
                    into);
}

Result<FrameBatch> VideoSession::AllFrames(std::optional<double> fps,
                                           std::span<std::byte> into) {
  if (!fps) return FramesInRange(0, std::nullopt, 1, into);
  RETURN_IF_ERROR(CheckBatches());
  RETURN_IF_ERROR(EnsureTimes());
  return FramesPlayedInRange(times_->begin(), times_->end(), fps, into);
}

FrameBatch VideoSession::EmptyBatch() const {
  return {.width = metadata_.width,
          .height = metadata_.height,
          .dtype = metadata_.dtype,
          .order = options_.dimension_order};
}

uint64_t VideoSession::MostFrames() const {
  // A batch is memory of the application, but a stream of a few kilobytes can
  // ask for any amount of it.
  return limits().session_bytes / EmptyBatch().picture_bytes();
}

Result<FrameBatch> VideoSession::FetchBatch(const Result<FrameChoice>& choice,
                                            std::span<std::byte> into) {
  if (!choice) return choice.error().WithContext(input().name());
  if (choice->indices.size() > MostFrames()) {
    return Status(Code::kResourceExhausted,
                  std::to_string(choice->indices.size()) + " frames of " +
                      input().name() +
                      " are too many; ask for fewer at once, or raise " +
                      ipc::LimitName("session_bytes"));
  }
  found_.Begin();
  const bool elsewhere = recovery().failover.has_value();
  FrameBatch batch = EmptyBatch();
  const size_t needed = choice->indices.size() * batch.picture_bytes();
  if (!into.empty() && into.size() < needed) {
    return Status(Code::kInvalidArgument,
                  "the buffer for " + std::to_string(choice->indices.size()) +
                      " frames of " + input().name() + " has " +
                      std::to_string(into.size()) + " bytes; it needs " +
                      std::to_string(needed) + ", " +
                      std::to_string(batch.picture_bytes()) +
                      " for each frame of " + std::to_string(batch.width) +
                      "x" + std::to_string(batch.height));
  }
  batch.caller_pixels = into;
  const auto fetch = [this](uint64_t index) -> Result<std::optional<Frame>> {
    ASSIGN_OR_RETURN(FrameOrDamage found, Find(index));
    if (auto* frame = std::get_if<Frame>(&found)) {
      RETURN_IF_ERROR(CheckSize(*frame));
      return std::make_optional(std::move(*frame));
    }
    if (options_.on_corrupt == OnCorrupt::kSkip ||
        options_.on_corrupt == OnCorrupt::kShow) {
      return std::optional<Frame>();
    }
    return DamagedError(std::get<Damage>(found));
  };
  RETURN_IF_ERROR(FetchInto(batch, *choice, fetch));
  if (recovery().failover.has_value() != elsewhere) {
    // The first of these frames are those of the device that failed.
    batch = EmptyBatch();
    batch.caller_pixels = into;
    RETURN_IF_ERROR(FetchInto(batch, *choice, fetch));
  }
  found_.Delivered();
  return batch;
}

}  // namespace bulkhead::session
