// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/host_option_check.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/device_name.h"
#include "ipc/limit_name.h"

namespace bulkhead {
namespace {

// The most slots of a session. The grants of all slots at once fit into the
// ring of requests, which holds 64 KiB, beside the other requests.
constexpr uint32_t kMostFrameSlots = 1024;
// The least memory of a worker. With less, it ends before it can report that it
// lacks memory.
constexpr uint64_t kFewestWorkerBytes = uint64_t{8} << 20;

Status TooSmall(const std::string& name, const std::string& value,
                int64_t least) {
  return Status(Code::kInvalidArgument, "option " + name + " is " + value +
                                            "; it must be at least " +
                                            std::to_string(least));
}

}  // namespace

Status CheckLimits(const Limits& limits) {
  for (const auto& [name, value] :
       {std::pair<const char*, uint64_t>{"frame_pixels", limits.frame_pixels},
        {"session_bytes", limits.session_bytes},
        {"worker_bytes", limits.worker_bytes},
        {"streams", limits.streams},
        {"packet_bytes", limits.packet_bytes},
        {"index_frames", limits.index_frames},
        {"attempts_per_position", limits.attempts_per_position},
        {"failures_per_backend", limits.failures_per_backend}}) {
    if (value == 0) return TooSmall("limits." + std::string(name), "0", 1);
  }
  // Two slots are needed: the worker fills one while the application reads the
  // other.
  if (limits.frame_slots < 2) {
    return TooSmall("limits.frame_slots", std::to_string(limits.frame_slots),
                    2);
  }
  if (limits.frame_slots > kMostFrameSlots) {
    return Status(Code::kInvalidArgument,
                  "option limits.frame_slots (--limit frame-slots=N) is " +
                      std::to_string(limits.frame_slots) +
                      "; it may be at most " + std::to_string(kMostFrameSlots));
  }
  if (limits.worker_bytes < kFewestWorkerBytes) {
    return Status(Code::kResourceExhausted,
                  "a worker needs " + std::to_string(kFewestWorkerBytes) +
                      " bytes at least, and may have " +
                      std::to_string(limits.worker_bytes) + "; raise " +
                      ipc::LimitName("worker_bytes"));
  }
  return Status();
}

Status CheckDeadlines(const Deadlines& deadlines) {
  using std::chrono::milliseconds;
  for (const auto& [name, value, least] :
       {std::tuple<const char*, milliseconds, int64_t>{
            "supervisor_start", deadlines.supervisor_start, 1},
        {"backend_start", deadlines.backend_start, 1},
        {"worker_start", deadlines.worker_start, 1},
        {"open", deadlines.open, 1},
        {"scan", deadlines.scan, 1},
        {"seek", deadlines.seek, 1},
        {"frame", deadlines.frame, 1},
        {"close", deadlines.close, 0}}) {
    if (value.count() >= least) continue;
    return TooSmall("deadlines." + std::string(name),
                    std::to_string(value.count()) + " ms", least);
  }
  return Status();
}

Status CheckShadow(const ShadowOptions& shadow) {
  if (const auto device = ParseDeviceName(shadow.against); !device) {
    return Status(device.error().code(),
                  "option shadow.against: " + device.error().message());
  }
  // A share that is NaN fails this comparison too.
  if (shadow.share >= 0 && shadow.share <= 1) return Status();
  return Status(Code::kInvalidArgument, "option shadow.share is " +
                                            std::to_string(shadow.share) +
                                            "; it must be from 0 to 1");
}

}  // namespace bulkhead
