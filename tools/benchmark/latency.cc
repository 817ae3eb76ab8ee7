// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/latency.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include "tools/benchmark/in_process_decoder.h"

namespace bulkhead::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

Result<Frame> NextFrame(VideoDecoder& video) {
  Result<std::optional<Frame>> frame = video.Next();
  if (!frame) return frame.error();
  if (!*frame) return Status(Code::kInternal, "the clip is too short");
  return **std::move(frame);
}

constexpr int kWorkersARound = 20;

Result<double> OpenOurs(Host& host, const std::string& clip) {
  const Clock::time_point start = Clock::now();
  Result<VideoDecoder> video = host.OpenVideo(clip);
  if (!video) return video.error();
  Result<Frame> frame = NextFrame(*video);
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

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

Result<double> OpenInProcess(const std::string& clip) {
  const Clock::time_point start = Clock::now();
  Result<std::unique_ptr<InProcessDecoder>> decoder =
      InProcessDecoder::Open(clip);
  if (!decoder) return decoder.error();
  Result<bool> frame = (*decoder)->Next();
  if (!frame) return frame.error();
  return MillisecondsSince(start);
}

struct Recovery {
  double next_ms = 0;
  double recovered_ms = 0;
  int64_t recovered_pts = 0;
};

Result<Recovery> KillAndGoOn(Host& host, const std::string& clip,
                             uint64_t after_frames) {
  Result<VideoDecoder> video = host.OpenVideo(clip);
  if (!video) return video.error();
  for (uint64_t i = 0; i < after_frames; ++i) {
    Result<Frame> frame = NextFrame(*video);
    if (!frame) return frame.error();
  }
  const int worker = video->worker_pid();
  const Clock::time_point start = Clock::now();
  if (worker <= 0 || kill(worker, SIGKILL) != 0) {
    return Status(Code::kInternal,
                  fmt::format("cannot kill session worker {}: {}", worker,
                              std::generic_category().message(errno)));
  }
  Recovery recovery;
  while (true) {
    Result<Frame> frame = NextFrame(*video);
    if (!frame) return frame.error();
    const double elapsed = MillisecondsSince(start);
    if (recovery.next_ms == 0) recovery.next_ms = elapsed;
    if (video->recovery().restarts == 0) continue;
    recovery.recovered_ms = elapsed;
    recovery.recovered_pts = frame->pts().value_or(0);
    return recovery;
  }
}

Result<double> ReopenInProcess(const std::string& clip, int64_t pts) {
  const Clock::time_point start = Clock::now();
  Result<std::unique_ptr<InProcessDecoder>> decoder =
      InProcessDecoder::Open(clip);
  if (!decoder) return decoder.error();
  if (Status status = (*decoder)->DecodeAt(pts); !status.ok()) return status;
  return MillisecondsSince(start);
}

}  // namespace

Result<Latency> MeasureLatency(const HostOptions& options,
                               const std::string& clip, uint64_t frames,
                               const std::string& small_clip, int rounds) {
  Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  Latency measured;
  for (int round = -1; round < rounds; ++round) {
    Result<double> cold = OpenCold(options, clip);
    if (!cold) return cold.error();
    Result<double> open = OpenOurs(**host, clip);
    if (!open) return open.error();
    Result<double> worker_start = StartWorkers(**host, small_clip);
    if (!worker_start) return worker_start.error();
    Result<double> open_in_process = OpenInProcess(clip);
    if (!open_in_process) return open_in_process.error();
    // Steps through the distances from the keyframe; the pool is what keeps
    // the end of the clip away.
    const uint64_t kill_at = frames / 4 + static_cast<uint64_t>(round + 1) *
                                              37 %
                                              std::max<uint64_t>(1, frames / 2);
    Result<Recovery> recovery = KillAndGoOn(**host, clip, kill_at);
    if (!recovery) return recovery.error();
    Result<double> reopen = ReopenInProcess(clip, recovery->recovered_pts);
    if (!reopen) return reopen.error();
    if (round < 0) continue;
    measured.cold_open.values.push_back(*cold);
    measured.open.values.push_back(*open);
    measured.open_in_process.values.push_back(*open_in_process);
    measured.worker_start.values.push_back(*worker_start);
    measured.next_frame.values.push_back(recovery->next_ms);
    measured.recovery.values.push_back(recovery->recovered_ms);
    measured.reopen_in_process.values.push_back(*reopen);
  }
  return measured;
}

}  // namespace bulkhead::benchmark
