// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/reopening.h"
#include "tools/cli/conformance/usage.h"

namespace bulkhead::cli::conformance {
namespace {

constexpr int kOpens = 1'000;
// The number of samples that the worker compares, one after each kOpens /
// kWeights opens (kept equal to backends/worker/media/decode/examiner.cc).
constexpr int kWeights = 20;
// The time after which the check stops opening a slow decoder.
constexpr std::chrono::seconds kMostTime{60};
// The first opens are not measured: lazily loaded libraries take memory then.
constexpr int kWarmUp = 100;
constexpr int kOpensPerSample = 25;
constexpr size_t kFewestSamples = 15;
// The samples are divided into fifths. If each open leaks a page, the median
// memory grows by 1440 KiB from the first fifth to the middle one, and again
// from the middle one to the last. Without a leak, the memory varies by a MiB,
// in steps of up to 450 KiB, as the allocator takes and gives back memory. So
// the growth counts as a leak if it exceeds
// - kSlackKib from the first fifth to the last, and
// - kSlackOfHalfKib in each half, since the allocator may have given back
//   memory in one of them.
constexpr uint64_t kSlackKib = 1'600;
constexpr uint64_t kSlackOfHalfKib = 400;

// Kills the worker four times during a pass, which must deliver the same frames
// as an undisturbed pass.
Verdict GoesOnAfterSigkill(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip);
  if (!video) return FailedBy(video.error(), "open-1");
  const size_t step = std::max<size_t>(clip.frames.size() / 4, 1);
  uint32_t kills = 0;
  Verdict verdict = CompareRest(*video, clip, 0, "life-4", [&](size_t index) {
    if (index % step != 1 || video->worker_pid() <= 0) return;
    if (kill(video->worker_pid(), SIGKILL) == 0) ++kills;
  });
  if (verdict.passed()) verdict = CompareRestarts(*video, kills);
  return verdict;
}

// Decodes the clip in three incarnations of the backend, which must give the
// same frames.
Verdict RestartsWithTheSameFrames(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  for (int i = 0; i < 3; ++i) {
    auto video = subject.Open(**host, clip);
    if (!video) return FailedBy(video.error(), "open-1");
    Verdict verdict = CompareRest(*video, clip, 0, "life-4");
    if (!verdict.passed()) return verdict;
    const Status restarted = (*host)->Restart(subject.backend().name);
    if (!restarted.ok()) return FailedBy(restarted, "life-1");
  }
  return Verdict::Passed();
}

// Returns the verdict about a leak. `samples` are in the order of time.
Verdict CompareSamples(const std::vector<Usage>& samples) {
  const size_t fifth = samples.size() / 5;
  if (samples.back().threads > samples.front().threads) {
    return Verdict::Failed(
        "close-1",
        fmt::format("{} threads after {} opens, and {} at the end",
                    samples.front().threads, kWarmUp, samples.back().threads));
  }
  // Returns the median memory of a fifth of the samples. `number` is from 0.
  const auto median = [&](size_t number) {
    std::vector<uint64_t> memory;
    for (const Usage& usage :
         std::span(samples).subspan(number * fifth, fifth)) {
      memory.push_back(usage.memory_kib);
    }
    const auto half = memory.begin() + static_cast<ptrdiff_t>(fifth / 2);
    std::nth_element(memory.begin(), half, memory.end());
    return *half;
  };
  const uint64_t early = median(0);
  const uint64_t middle = median(2);
  const uint64_t late = median(4);
  if (middle <= early + kSlackOfHalfKib || late <= middle + kSlackOfHalfKib ||
      late <= early + kSlackKib) {
    return Verdict::Passed();
  }
  return Verdict::Failed(
      "close-1",
      fmt::format("the process had {} KiB during the first fifth of the opens, "
                  "{} KiB during the middle one, and {} KiB during the last "
                  "one (medians)",
                  early, middle, late));
}

// Rewinds a decoder again and again. For each Rewind() the worker closes the
// vendor's decoder and opens another one, in the same process. Leaks are
// noticed twice: the worker's examiner compares the bytes that malloc() has
// given ("bulkhead.weigh-opens"), and this function the memory that /proc
// shows.
Verdict LeaksNothing(Subject& subject) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(
      **host, clip,
      {.threads = 2,
       .backend_options = {
           {"bulkhead.weigh-opens", fmt::format("{}", kOpens / kWeights)}}});
  if (!video) return FailedBy(video.error(), "open-1");
  std::vector<Usage> samples;
  const auto begin = std::chrono::steady_clock::now();
  int opens = 0;
  for (; opens < kOpens; ++opens) {
    if (std::chrono::steady_clock::now() - begin > kMostTime) break;
    if (opens >= kWarmUp && opens % kOpensPerSample == 0) {
      const std::optional<Usage> usage = UsageOf(video->worker_pid());
      if (!usage) {
        return Verdict::NotTried(
            "/proc does not show the process of the stream");
      }
      samples.push_back(*usage);
    }
    video->Rewind();
    const auto frame = video->Next();
    if (!frame) return BlameReopening(FailedBy(frame.error(), "close-1"));
    if (Verdict ended = CompareRestarts(*video, 0); !ended.passed()) {
      return BlameReopening(ended);
    }
    if (!*frame) return Verdict::Failed("send-3", "a session ended early");
    Verdict verdict =
        CompareFrame(**frame, clip, 0, opens == 0 ? "life-4" : "close-1");
    if (!verdict.passed()) return verdict;
  }
  if (samples.size() < kFewestSamples) {
    // kMostTime has passed after too few opens.
    return Verdict::NotTried(
        fmt::format("{} opens took {} s; it takes more to see a leak", opens,
                    kMostTime.count()));
  }
  return CompareSamples(samples);
}

// Decodes the clip with a memory limit of `bytes` for the worker, or with the
// default limit. Passes if the frames are right, and decoding ends at the end
// of the clip or with kResourceExhausted.
Verdict DecodeWithMemory(Subject& subject, std::optional<uint64_t> bytes) {
  const ReferenceClip& clip = subject.clips().front();
  const auto host = subject.NewHost([bytes](HostOptions& options) {
    if (bytes) options.limits.worker_bytes = *bytes;
  });
  if (!host) return FailedBy(host.error(), "life-1");
  auto video = subject.Open(**host, clip, {.threads = 8});
  Status status = video ? Status() : video.error();
  for (size_t index = 0; status.ok(); ++index) {
    const auto frame = video->Next();
    if (!frame) status = frame.error();
    if (!frame) break;
    if (!*frame) return CompareRestarts(*video, 0);
    Verdict verdict = CompareFrame(**frame, clip, index, "memory-1");
    if (!verdict.passed()) return verdict;
  }
  return status.code() == Code::kResourceExhausted
             ? Verdict::Passed()
             : FailedBy(status, "memory-1");
}

// Decodes the clip with memory limits that are too small for most decoders.
Verdict EndsWellWithoutMemory(Subject& subject) {
  for (const uint64_t mebibytes : {12, 24, 48, 96}) {
    const Verdict verdict = DecodeWithMemory(subject, mebibytes << 20);
    if (verdict.passed()) continue;
    // Memory may not be the cause: the number of threads, or a new process, can
    // cause the failure, too. The clip is decoded with enough memory to know.
    const Verdict fed = DecodeWithMemory(subject, std::nullopt);
    if (!fed.passed()) {
      return Verdict::NotTried("it fails in the same way with enough memory: " +
                               fed.words());
    }
    return Verdict::Failed(
        verdict.clause(),
        fmt::format("with {} MiB of memory: {}", mebibytes, verdict.words()));
  }
  return Verdict::Passed();
}

}  // namespace

std::vector<Check> EnduranceChecks() {
  return {
      {"goes on with the same frames after SIGKILL", "life-4",
       GoesOnAfterSigkill},
      {"gives the same frames after a restart", "life-4",
       RestartsWithTheSameFrames},
      {"starves in order", "memory-1", EndsWellWithoutMemory},
      {fmt::format("leaks nothing in {} opens", kOpens), "close-1",
       LeaksNothing},
  };
}

}  // namespace bulkhead::cli::conformance
