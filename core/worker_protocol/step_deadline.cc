// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/step_deadline.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "ipc/limit_name.h"

namespace bulkhead::worker_protocol {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kMaxThreads = 256;
// The host extends a wait only by 1 / kSlices of the timeout or more.
constexpr int kSlices = 16;

nanoseconds Bounded(std::chrono::milliseconds timeout) {
  return std::clamp<std::chrono::milliseconds>(
      timeout, std::chrono::milliseconds(0), ipc::Deadline::kLongest);
}

}  // namespace

RunDelays ReadRunDelays(pid_t pid) {
  RunDelays delays;
  if (pid <= 0) return delays;
  std::error_code error;
  std::filesystem::directory_iterator threads(
      "/proc/" + std::to_string(pid) + "/task", error);
  for (; !error && threads != std::filesystem::directory_iterator() &&
         delays.size() < kMaxThreads;
       threads.increment(error)) {
    const std::string name = threads->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    std::ifstream file(threads->path() / "schedstat");
    uint64_t ran = 0;
    uint64_t waited = 0;
    if (file >> ran >> waited) delays[thread] = nanoseconds(waited);
  }
  return delays;
}

std::string NameOf(std::chrono::milliseconds Deadlines::*step) {
  if (step == &Deadlines::worker_start)
    return ipc::DeadlineName("worker_start");
  if (step == &Deadlines::open) return ipc::DeadlineName("open");
  if (step == &Deadlines::scan) return ipc::DeadlineName("scan");
  if (step == &Deadlines::seek) return ipc::DeadlineName("seek");
  return ipc::DeadlineName("frame");
}

StepDeadline::StepDeadline(std::chrono::milliseconds timeout, Read read,
                           Clock::time_point now)
    : timeout_(Bounded(timeout)),
      read_(std::move(read)),
      began_(now),
      end_(now + timeout_),
      next_(now + timeout_ / 4) {}

bool StepDeadline::GoesOn(Clock::time_point now) {
  if (now < next_) return true;
  late_ += now - next_;
  if (!before_) before_ = read_();
  // The first quarter has passed.
  if (now < end_) {
    next_ = end_;
    return true;
  }
  // The timeout has passed. The delays extend it by at most another timeout.
  const Clock::time_point until = end_ + std::min(timeout_, Waited() + late_);
  if (until - now < timeout_ / kSlices || until <= now) return false;
  next_ = until;
  return true;
}

void StepDeadline::Renew(std::chrono::milliseconds timeout,
                         Clock::time_point now) {
  used_up_ = (now - began_) / kMostTimeouts >= Bounded(timeout);
  if (used_up_) return;
  timeout_ = Bounded(timeout);
  end_ = now + timeout_;
  next_ = now + timeout_ / 4;
  before_.reset();
  late_ = nanoseconds(0);
}

nanoseconds StepDeadline::Waited() const {
  nanoseconds longest{0};
  for (const auto& [thread, delay] : read_()) {
    // A thread that began after the first reading counts with its whole delay.
    const auto before = before_->find(thread);
    longest = std::max(
        longest, before == before_->end() ? delay : delay - before->second);
  }
  return longest;
}

}  // namespace bulkhead::worker_protocol
