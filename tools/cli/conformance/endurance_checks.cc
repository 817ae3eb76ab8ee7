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

namespace bulkhead::cli {
namespace {

constexpr int kOpens = 1'000;
// As many as the worker compares (backends/worker/media/decode/examiner.cc).
constexpr int kWeights = 20;
// A slow decoder is opened less often.
constexpr std::chrono::seconds kMostTime{60};
// Lazily loaded libraries take memory during the first opens.
constexpr int kWarmUp = 100;
constexpr int kOpensPerSample = 25;
constexpr size_t kFewestSamples = 15;
// What an allocator takes and gives back varies by a MiB, and it takes more in
// steps of up to 450 KiB. A leak shows in that the median of the middle fifth
// is above the first one's, and the median of the last above the
// middle's: by 1440 KiB each if each open leaks a page. The allocator may give
// back some of that in one half, so the whole has to grow by kSlackKib and a
// half only by kSlackOfHalfKib.
constexpr uint64_t kSlackKib = 1'600;
constexpr uint64_t kSlackOfHalfKib = 400;

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

// Frames that are decoded on the way to another one come from the restarted
// backend as from the first.
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

// Compares what the process used early with what it used late.
Verdict CompareSamples(const std::vector<Usage>& samples) {
  const size_t fifth = samples.size() / 5;
  if (samples.back().threads > samples.front().threads) {
    return Verdict::Failed(
        "close-1",
        fmt::format("{} threads after {} opens, and {} at the end",
                    samples.front().threads, kWarmUp, samples.back().threads));
  }
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

// A decoder that begins anew from the first frame is closed and opened again in
// the same process. What malloc() gives is counted there, byte by byte; memory
// of another kind shows from outside.
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
    if (!frame) return OfClose(FailedBy(frame.error(), "close-1"));
    if (Verdict ended = CompareRestarts(*video, 0); !ended.passed()) {
      return OfClose(ended);
    }
    if (!*frame) return Verdict::Failed("send-3", "a session ended early");
    Verdict verdict =
        CompareFrame(**frame, clip, 0, opens == 0 ? "life-4" : "close-1");
    if (!verdict.passed()) return verdict;
  }
  if (samples.size() < kFewestSamples) {
    return Verdict::NotTried(
        fmt::format("{} opens took {} s; it takes more to see a leak", opens,
                    kMostTime.count()));
  }
  return CompareSamples(samples);
}

// Decodes the clip with a limit of memory, or with the usual one. It ends well,
// or with an error that says that the limit was reached.
Verdict StarveWith(Subject& subject, std::optional<uint64_t> bytes) {
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

Verdict StarvesInOrder(Subject& subject) {
  for (const uint64_t mebibytes : {12, 24, 48, 96}) {
    const Verdict verdict = StarveWith(subject, mebibytes << 20);
    if (verdict.passed()) continue;
    // Other threads or another process may be the cause, not the memory.
    const Verdict fed = StarveWith(subject, std::nullopt);
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
      {"starves in order", "memory-1", StarvesInOrder},
      {fmt::format("leaks nothing in {} opens", kOpens), "close-1",
       LeaksNothing},
  };
}

}  // namespace bulkhead::cli
