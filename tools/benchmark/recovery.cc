// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/recovery.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "tools/benchmark/in_process_decoder.h"
#include "tools/benchmark/stopwatch.h"

namespace bulkhead::benchmark {
namespace {

struct Times {
  double next_ms = 0;
  double recovered_ms = 0;
  int64_t recovered_pts = 0;
};

// Kills the worker after `after_frames` frames, and reads on up to the first
// frame of the new worker.
Result<Times> KillAndGoOn(Host& host, const std::string& clip,
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
  Times times;
  while (true) {
    Result<Frame> frame = NextFrame(*video);
    if (!frame) return frame.error();
    const double elapsed = MillisecondsSince(start);
    if (times.next_ms == 0) times.next_ms = elapsed;
    if (video->recovery().restarts == 0) continue;
    times.recovered_ms = elapsed;
    times.recovered_pts = frame->pts().value_or(0);
    return times;
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

Status MeasureRecovery(Host& host, const std::string& clip, uint64_t frames,
                       int round, Recovery& measured) {
  // Kills between 1/4 and 3/4 of the clip, at a different distance from the
  // keyframe in each round. Near the end, the worker might have decoded all
  // remaining frames ahead, so that no recovery would be needed.
  const uint64_t kill_at = frames / 4 + static_cast<uint64_t>(round + 1) * 37 %
                                            std::max<uint64_t>(1, frames / 2);
  const Result<Times> times = KillAndGoOn(host, clip, kill_at);
  if (!times) return times.error();
  const Result<double> reopen = ReopenInProcess(clip, times->recovered_pts);
  if (!reopen) return reopen.error();
  measured.next_frame.values.push_back(times->next_ms);
  measured.recovered.values.push_back(times->recovered_ms);
  measured.reopen_in_process.values.push_back(*reopen);
  return Status();
}

}  // namespace bulkhead::benchmark
