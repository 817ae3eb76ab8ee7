// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/latency.h"

#include <fmt/format.h>

#include <chrono>

#include "tools/benchmark/in_process_decoder.h"
#include "tools/benchmark/stopwatch.h"

namespace bulkhead::benchmark {
namespace {

constexpr int kWorkersARound = 20;

// Returns the milliseconds to a stream's first frame, with a running backend.
Result<double> OpenOurs(Host& host, const std::string& clip) {
  const Clock::time_point start = Clock::now();
  Result<VideoDecoder> video = host.OpenVideo(clip);
  if (!video) return video.error();
  Result<Frame> frame = NextFrame(*video);
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

// Returns the median time of a worker's start, in milliseconds.
Result<double> StartWorkers(Host& host, const std::string& clip) {
  Series starts;
  for (int i = 0; i < kWorkersARound; ++i) {
    Result<VideoDecoder> video = host.OpenVideo(clip);
    if (!video) return video.error();
    starts.values.push_back(std::chrono::duration<double, std::milli>(
                                video->recovery().worker_start)
                                .count());
  }
  return starts.Median();
}

// Measures like OpenOurs(), with a new Host, for which nothing runs yet.
Result<double> OpenCold(const HostOptions& options, const std::string& clip) {
  const Clock::time_point start = Clock::now();
  Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  Result<VideoDecoder> video = (*host)->OpenVideo(clip);
  if (!video) return video.error();
  Result<Frame> frame = NextFrame(*video);
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

// Measures like OpenOurs(), with libav in this process instead of Bulkhead.
Result<double> OpenInProcess(const std::string& clip) {
  const Clock::time_point start = Clock::now();
  Result<std::unique_ptr<InProcessDecoder>> decoder =
      InProcessDecoder::Open(clip);
  if (!decoder) return decoder.error();
  Result<bool> frame = (*decoder)->Next();
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

}  // namespace

Result<Latency> MeasureLatency(const HostOptions& options,
                               const std::string& clip, uint64_t frames,
                               const std::string& small_clip, int rounds) {
  Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  Latency measured;
  // Round -1 is a warm-up and does not count.
  for (int round = -1; round < rounds; ++round) {
    Result<double> cold = OpenCold(options, clip);
    if (!cold) return cold.error();
    Result<double> open = OpenOurs(**host, clip);
    if (!open) return open.error();
    Result<double> worker_start = StartWorkers(**host, small_clip);
    if (!worker_start) return worker_start.error();
    Result<double> open_in_process = OpenInProcess(clip);
    if (!open_in_process) return open_in_process.error();
    if (round < 0) continue;
    measured.cold_open.values.push_back(*cold);
    measured.open.values.push_back(*open);
    measured.open_in_process.values.push_back(*open_in_process);
    measured.worker_start.values.push_back(*worker_start);
    if (Status status =
            MeasureRecovery(**host, clip, frames, round, measured.recovery);
        !status.ok()) {
      return status;
    }
  }
  return measured;
}

}  // namespace bulkhead::benchmark
