// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/video_batches.h"

#include <string>
#include <utility>
#include <variant>

#include "core/base/status_macros.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {

Status VideoBatches::Check() const {
  if (session_.options().output_format != OutputFormat::kNative)
    return Status();
  return Status(Code::kInvalidArgument,
                session_.name() +
                    ": a batch is one block of RGB pictures, and the frames "
                    "are native planes; ask for one frame after the other, "
                    "or open the stream with OutputFormat::kRgb "
                    "(output_format=\"rgb\" in Python)");
}

Status VideoBatches::CheckSize(const Frame& frame) const {
  if (frame.width() == session_.metadata().width &&
      frame.height() == session_.metadata().height) {
    return Status();
  }
  return Status(Code::kInvalidArgument,
                session_.name() + ": frame " + std::to_string(frame.index()) +
                    " has " + std::to_string(frame.width()) + "x" +
                    std::to_string(frame.height()) +
                    " pixels, and the pictures of a batch have those of the "
                    "first frame, " +
                    std::to_string(session_.metadata().width) + "x" +
                    std::to_string(session_.metadata().height) +
                    "; ask for one frame after the other, or leave autoscale "
                    "on");
}

Result<FrameBatch> VideoBatches::At(std::span<const int64_t> indices,
                                    std::span<std::byte> into) {
  RETURN_IF_ERROR(Check());
  ASSIGN_OR_RETURN(const frames::FrameIndex* index, session_.Index());
  return Fetch(frames::ResolveIndices(indices, index->size()), into);
}

Result<FrameBatch> VideoBatches::InRange(int64_t start,
                                         std::optional<int64_t> stop,
                                         int64_t step,
                                         std::span<std::byte> into) {
  RETURN_IF_ERROR(Check());
  ASSIGN_OR_RETURN(const frames::FrameIndex* index, session_.Index());
  return Fetch(frames::ResolveSlice(start, stop, step, index->size()), into);
}

Result<FrameBatch> VideoBatches::PlayedAt(std::span<const double> seconds,
                                          std::span<std::byte> into) {
  RETURN_IF_ERROR(Check());
  ASSIGN_OR_RETURN(const frames::FrameTimes* times, session_.Times());
  return Fetch(times->PlayedAt(seconds), into);
}

Result<FrameBatch> VideoBatches::PlayedInRange(double start, double stop,
                                               std::optional<double> fps,
                                               std::span<std::byte> into) {
  RETURN_IF_ERROR(Check());
  ASSIGN_OR_RETURN(const frames::FrameTimes* times, session_.Times());
  return Fetch(times->PlayedInRange(start, stop, fps, MostFrames()), into);
}

Result<FrameBatch> VideoBatches::All(std::optional<double> fps,
                                     std::span<std::byte> into) {
  if (!fps) return InRange(0, std::nullopt, 1, into);
  RETURN_IF_ERROR(Check());
  ASSIGN_OR_RETURN(const frames::FrameTimes* times, session_.Times());
  return PlayedInRange(times->begin(), times->end(), fps, into);
}

FrameBatch VideoBatches::Empty() const {
  return {.width = session_.metadata().width,
          .height = session_.metadata().height,
          .dtype = session_.metadata().dtype,
          .order = session_.options().dimension_order};
}

uint64_t VideoBatches::MostFrames() const {
  // A batch is allocated in the application, and a stream of a few kilobytes
  // can have any number of frames. So the memory of a batch is limited to that
  // of a session.
  return session_.limits().session_bytes / Empty().picture_bytes();
}

Result<std::optional<Frame>> VideoBatches::FetchOne(uint64_t index) {
  const OnCorrupt on_corrupt = session_.options().on_corrupt;
  ASSIGN_OR_RETURN(auto found, session_.Find(index));
  if (auto* frame = std::get_if<Frame>(&found)) {
    RETURN_IF_ERROR(CheckSize(*frame));
    return std::make_optional(std::move(*frame));
  }
  if (on_corrupt == OnCorrupt::kSkip || on_corrupt == OnCorrupt::kShow) {
    return std::optional<Frame>();
  }
  return session_.ErrorOf(std::get<frames::Damage>(found));
}

Result<FrameBatch> VideoBatches::Fetch(
    const Result<frames::FrameChoice>& choice, std::span<std::byte> into) {
  if (!choice) return choice.error().WithContext(session_.name());
  if (choice->indices.size() > MostFrames()) {
    return Status(Code::kResourceExhausted,
                  std::to_string(choice->indices.size()) + " frames of " +
                      session_.name() +
                      " are too many; ask for fewer at once, or raise " +
                      ipc::LimitName("session_bytes"));
  }
  session_.BeginFrames();
  const bool elsewhere = session_.recovery().failover.has_value();
  FrameBatch batch = Empty();
  const size_t needed = choice->indices.size() * batch.picture_bytes();
  if (!into.empty() && into.size() < needed) {
    return Status(Code::kInvalidArgument,
                  "the buffer for " + std::to_string(choice->indices.size()) +
                      " frames of " + session_.name() + " has " +
                      std::to_string(into.size()) + " bytes; it needs " +
                      std::to_string(needed) + ", " +
                      std::to_string(batch.picture_bytes()) +
                      " for each frame of " + std::to_string(batch.width) +
                      "x" + std::to_string(batch.height));
  }
  batch.caller_pixels = into;
  const auto fetch = [this](uint64_t i) { return FetchOne(i); };
  RETURN_IF_ERROR(frames::FetchInto(batch, *choice, fetch));
  if (session_.recovery().failover.has_value() != elsewhere) {
    // The device changed meanwhile, so the first of these frames are from the
    // device that failed. All frames of a batch must be from one device.
    batch = Empty();
    batch.caller_pixels = into;
    RETURN_IF_ERROR(frames::FetchInto(batch, *choice, fetch));
  }
  session_.FramesDelivered();
  return batch;
}

}  // namespace bulkhead::session
