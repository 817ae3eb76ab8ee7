// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/each_clip.h"
#include "tools/cli/conformance/reopening.h"

namespace bulkhead::cli::conformance {
namespace {

// Opens `clip` and returns the verdict of `use` on the decoder. Fails also if
// the decoder has lost a worker.
template <typename Use>
Verdict WithDecoder(Subject& subject, const ReferenceClip& clip,
                    const VideoOptions& options, const Use& use) {
  const auto host = subject.SharedHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip, options);
  if (!video) {
    const Code code = video.error().code();
    // The device has decoded this clip before, so that these codes concern the
    // device, not the clip.
    return FailedBy(video.error(), code == Code::kNotFound      ? "device-2"
                                   : code == Code::kUnsupported ? "device-4"
                                                                : "open-1");
  }
  Verdict verdict = use(*video);
  return verdict.passed() ? CompareRestarts(*video, 0) : verdict;
}

// Corrects the clause of `verdict`, the result of a pass with flushes. The same
// clip has passed without flushes, so the flush is the cause of a failure.
// - If the pass succeeded, or the clause is result-4 (the worker was late) or
//   life-3 (the worker tried something forbidden): returns `verdict`.
// - Else, if reopening the decoder fails as well: returns that failure.
// - Else returns `verdict` with `clause` as the broken clause.
Verdict BlameFlush(const std::string& clause, const Verdict& verdict,
                   Subject& subject, const ReferenceClip& clip) {
  if (verdict.passed() || verdict.clause() == "result-4" ||
      verdict.clause() == "life-3") {
    return verdict;
  }
  const Verdict anew = TryReopening(subject, clip);
  return anew.passed() ? Verdict::Failed(clause, verdict.words()) : anew;
}

Verdict CompareAt(VideoDecoder& video, const ReferenceClip& clip, size_t index,
                  const std::string& clause) {
  const auto frame = video.FrameAt(static_cast<int64_t>(index));
  if (!frame) return FailedBy(frame.error(), clause);
  return CompareFrame(*frame, clip, index, clause);
}

// Reads frames in random order, so that the decoder is flushed before most.
Verdict SeeksIn(Subject& subject, const ReferenceClip& clip) {
  std::vector<size_t> order(clip.frames.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  // Files of --media can be long.
  order.resize(std::min<size_t>(order.size(), 50));
  const Verdict verdict =
      WithDecoder(subject, clip, {}, [&](VideoDecoder& video) {
        for (const size_t index : order) {
          Verdict each = CompareAt(video, clip, index, "flush-1");
          if (!each.passed()) return each;
        }
        return Verdict::Passed();
      });
  return BlameFlush("flush-1", verdict, subject, clip);
}

Verdict Seeks(Subject& subject) { return TryEachClip(subject, SeeksIn); }

// Decodes to the end, seeks twice, decodes the whole clip again, and rewinds.
Verdict GoesOnAfterTheEnd(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const Verdict went_on =
      WithDecoder(subject, clip, {}, [&](VideoDecoder& video) {
        Verdict verdict = CompareRest(video, clip, 0, "frame-10");
        // The decoder was drained for the last frames. It must be flushed
        // before each of these seeks.
        for (const size_t index :
             {clip.frames.size() - 1, clip.frames.size() / 2}) {
          if (verdict.passed())
            verdict = CompareAt(video, clip, index, "flush-2");
        }
        video.Rewind();
        if (verdict.passed()) verdict = CompareRest(video, clip, 0, "flush-2");
        // This Rewind() closes a decoder that is at the end of the stream.
        video.Rewind();
        const auto first = video.Next();
        if (verdict.passed() && !first)
          return FailedBy(first.error(), "close-1");
        return verdict;
      });
  return BlameFlush("flush-2", went_on, subject, clip);
}

Verdict IsTheSameWithThreadsIn(Subject& subject, const ReferenceClip& clip) {
  for (const uint32_t threads : {2, 8}) {
    const Verdict verdict = WithDecoder(
        subject, clip, {.threads = threads}, [&](VideoDecoder& video) {
          return CompareRest(video, clip, 0, "life-4");
        });
    if (!verdict.passed()) return verdict;
  }
  return Verdict::Passed();
}

Verdict IsTheSameWithThreads(Subject& subject) {
  return TryEachClip(subject, IsTheSameWithThreadsIn);
}

Verdict IsTheSameOnEachDevice(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  for (const DeviceInfo& device : subject.backend().devices) {
    const Verdict verdict = WithDecoder(
        subject, clip, {.device = device.name}, [&](VideoDecoder& video) {
          return CompareRest(video, clip, 0, "life-4");
        });
    if (!verdict.passed()) return verdict;
  }
  return Verdict::Passed();
}

Verdict ServesManySessions(Subject& subject) {
  constexpr size_t kSessions = 8;
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  std::vector<VideoDecoder> videos;
  // The sessions share the clips, if there are fewer than eight.
  const auto clip_of = [&](size_t i) -> const ReferenceClip& {
    return subject.clips()[i % subject.clips().size()];
  };
  for (size_t i = 0; i < kSessions; ++i) {
    auto video = subject.Open(**host, clip_of(i));
    if (!video) return FailedBy(video.error(), "thread-2");
    videos.push_back(*std::move(video));
  }
  // The sessions deliver frames in turns, so that the backend has to serve all
  // of them at the same time.
  size_t longest = 0;
  for (size_t i = 0; i < kSessions; ++i) {
    longest = std::max(longest, clip_of(i).frames.size());
  }
  for (size_t index = 0; index < longest; ++index) {
    for (size_t i = 0; i < kSessions; ++i) {
      if (index >= clip_of(i).frames.size()) continue;
      auto frame = videos[i].Next();
      if (!frame) return FailedBy(frame.error(), "thread-2");
      if (!*frame) return Verdict::Failed("send-3", "a session ended early");
      Verdict verdict = CompareFrame(**frame, clip_of(i), index, "thread-2");
      if (!verdict.passed()) return verdict;
    }
  }
  for (const VideoDecoder& video : videos) {
    Verdict verdict = CompareRestarts(video, 0);
    if (!verdict.passed()) return verdict;
  }
  return Verdict::Passed();
}

Verdict ManagesWithFewSlots(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost(
      [](HostOptions& options) { options.limits.frame_slots = 2; });
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video) return FailedBy(video.error(), "open-1");
  Verdict verdict = CompareRest(*video, clip, 0, "receive-2");
  return verdict.passed() ? CompareRestarts(*video, 0) : verdict;
}

}  // namespace

std::vector<Check> AccessChecks() {
  return {
      {"seeks to each frame, in any order", "flush-1", Seeks},
      {"goes on after the end", "flush-2", GoesOnAfterTheEnd},
      {"gives the same pictures with 2 and 8 threads", "life-4",
       IsTheSameWithThreads},
      {"gives the same pictures on each device", "life-4",
       IsTheSameOnEachDevice},
      {"serves eight sessions in turns", "thread-2", ServesManySessions},
      {"manages with two slots for frames", "receive-2", ManagesWithFewSlots},
  };
}

}  // namespace bulkhead::cli::conformance
