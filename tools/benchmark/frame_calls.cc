// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/frame_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "tools/benchmark/cached_clip.h"
#include "tools/benchmark/stopwatch.h"
#include "tools/benchmark/system_calls.h"

namespace bulkhead::benchmark {
namespace {

constexpr uint32_t kSlots = 64;
// The number of frames that are counted: half of the slots. The application
// holds frames in one half, while the worker decodes ahead into the other half.
// When the application releases its frames, it takes the other half without
// waiting, and the worker refills the released slots.
constexpr size_t kTaken = kSlots / 2;

// Returns the state of a process in /proc: 'S' if it sleeps, '?' if unknown.
char StateOf(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size()
             ? '?'
             : line[name_end + 2];
}

// Waits until the worker has filled all of its slots. A worker with free slots
// may sleep for a moment; this one must be asleep in 20 looks in a row.
Status AwaitSleep(pid_t worker) {
  const auto start = Clock::now();
  int looks = 0;
  while (MillisecondsSince(start) < 10'000) {
    looks = StateOf(worker) == 'S' ? looks + 1 : 0;
    if (looks == 20) return Status();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status(Code::kInternal, "a worker without free slots does not sleep");
}

std::string NameOf(uint32_t call) {
  switch (call) {
    case SYS_read:
      return "read";
    case SYS_write:
      return "write";
    case SYS_pread64:
      return "pread";
    case SYS_lseek:
      return "lseek";
    case SYS_mmap:
      return "mmap";
    case SYS_munmap:
      return "munmap";
    case SYS_brk:
      return "brk";
    case SYS_madvise:
      return "madvise";
    case SYS_poll:
      return "poll";
    case SYS_getpid:
      return "getpid";
    case SYS_ppoll:
      return "ppoll";
    case SYS_futex:
      return "futex";
    case SYS_sched_yield:
      return "sched_yield";
    case SYS_recvmsg:
      return "recvmsg";
    case SYS_sendmsg:
      return "sendmsg";
    case SYS_clock_gettime:
      return "clock_gettime";
    default:
      return fmt::format("call {}", call);
  }
}

}  // namespace

double SideCalls::PerFrame() const {
  uint64_t sum = 0;
  for (const auto& [call, count] : calls) sum += count;
  return static_cast<double>(sum) / static_cast<double>(frames);
}

std::string SideCalls::Text() const {
  std::vector<std::string> parts;
  for (const auto& [call, count] : calls) {
    parts.push_back(fmt::format("{} {}", NameOf(call), count));
  }
  return fmt::format(
      "{:.2f}{}", PerFrame(),
      parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", ")));
}

Result<FrameCalls> CountFrameCalls(HostOptions options) {
  const Result<std::string> clip =
      CachedClip({.width = 320, .height = 240, .frames = 240});
  if (!clip) return clip.error();
  options.limits.frame_slots = kSlots;
  const Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  Result<VideoDecoder> video = (*host)->OpenVideo(*clip);
  if (!video) return video.error();
  std::vector<Frame> taken;
  taken.reserve(kTaken);
  const auto take = [&]() -> Status {
    while (taken.size() < kTaken) {
      Result<Frame> frame = NextFrame(*video);
      if (!frame) return frame.error();
      taken.push_back(*std::move(frame));
    }
    return Status();
  };
  // A slot gets its memory when it is first used, so that each has to be used
  // once before the calls are counted.
  for (size_t frames = 0; frames <= kSlots; frames += kTaken) {
    taken.clear();
    if (Status status = take(); !status.ok()) return status;
  }
  const pid_t worker = video->worker_pid();
  const auto trace = SystemCallTrace::Start({getpid(), worker});
  if (!trace) return trace.error();

  if (Status status = AwaitSleep(worker); !status.ok()) return status;
  (*trace)->BeginPhase();
  // The first NextFrame() grants the worker the slots of all these frames at
  // once.
  taken.clear();
  if (Status status = take(); !status.ok()) return status;
  FrameCalls counted;
  counted.application = {kTaken, (*trace)->Calls(getpid())};
  if (Status status = AwaitSleep(worker); !status.ok()) return status;
  counted.worker = {kTaken, (*trace)->Calls(worker)};
  return counted;
}

}  // namespace bulkhead::benchmark
