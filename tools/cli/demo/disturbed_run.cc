// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/demo/disturbed_run.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include "core/application/writers/md5.h"
#include "core/base/status_macros.h"

namespace bulkhead::cli::demo {
namespace {

using Clock = std::chrono::steady_clock;

Result<int> ZygoteOf(Host& host, const std::string& backend) {
  ASSIGN_OR_RETURN(const BackendReport report, host.Backends());
  for (const BackendInfo& info : report.backends) {
    if (info.name == backend && info.zygote_pid > 0) return info.zygote_pid;
  }
  return Status(Code::kInternal,
                fmt::format("backend {} runs without a zygote", backend));
}

// Kills the process. Refuses pid 0, for which kill() would end the process
// group of this program.
Status Kill(int pid, std::string_view what) {
  if (pid > 0 && kill(pid, SIGKILL) == 0) return Status();
  return Status(Code::kInternal,
                fmt::format("cannot kill {} {}: {}", what, pid,
                            std::generic_category().message(errno)));
}

// Kills processes of one stream and measures the recovery of the stream.
class Disturber {
 public:
  Disturber(Host& host, VideoDecoder& video) : host_(host), video_(video) {}

  // Kills the worker of the stream and, if asked for, the zygote before it.
  Status Disturb(const Disturbance& disturbance) {
    Incident incident;
    incident.frame = disturbance.frame;
    incident.worker_pid = video_.worker_pid();
    if (disturbance.zygote) {
      ASSIGN_OR_RETURN(incident.zygote_pid,
                       ZygoteOf(host_, video_.metadata().backend));
    }
    restarts_before_ = video_.recovery().restarts;
    if (incident.zygote_pid != 0) {
      RETURN_IF_ERROR(Kill(incident.zygote_pid, "zygote"));
    }
    RETURN_IF_ERROR(Kill(incident.worker_pid, "session worker"));
    pending_ = incident;
    return Status();
  }

  // Must be called with each received frame and the time spent in Next().
  // Returns true for the first frame from a new worker.
  bool Observe(uint64_t frame, Clock::duration waited) {
    if (!pending_) return false;
    pending_->waited_ms +=
        std::chrono::duration<double, std::milli>(waited).count();
    // The dead worker decoded this frame ahead, if there was no restart yet.
    if (video_.recovery().restarts == restarts_before_) {
      ++pending_->frames_ahead;
      return false;
    }
    pending_->recovered_at = frame;
    pending_->new_worker_pid = video_.worker_pid();
    incidents.push_back(*pending_);
    pending_.reset();
    return true;
  }

  std::vector<Incident> incidents;

 private:
  Host& host_;
  VideoDecoder& video_;
  std::optional<Incident> pending_;  // No frame of a new worker has come yet.
  uint32_t restarts_before_ = 0;     // The restarts before the kill.
};

}  // namespace

Result<RunResult> DecodeDisturbed(
    Host& host, const std::string& path, const std::string& device,
    const std::vector<Disturbance>& disturbances,
    const std::function<void(const Frame&, bool recovered)>& see) {
  VideoOptions options;
  options.device = device;
  ASSIGN_OR_RETURN(VideoDecoder video, host.OpenVideo(path, options));
  RunResult result;
  Disturber disturber(host, video);
  auto next = disturbances.begin();
  while (true) {
    const uint64_t done = result.hashes.size();
    if (next != disturbances.end() && next->frame == done) {
      RETURN_IF_ERROR(disturber.Disturb(*next));
      ++next;
    }
    const Clock::time_point asked = Clock::now();
    ASSIGN_OR_RETURN(const std::optional<Frame> frame, video.Next());
    if (!frame) break;
    const bool recovered = disturber.Observe(done, Clock::now() - asked);
    result.hashes.push_back(writers::Md5(writers::PictureOf(*frame)));
    see(*frame, recovered);
  }
  result.incidents = disturber.incidents;
  return result;
}

}  // namespace bulkhead::cli::demo
