// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/readings.h"

#include <utility>

namespace bulkhead::cli::top {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPause{1'000};
// A bulkheadd sends its recorded events in parts. kNextPart is the wait for the
// next part, kMaxParts the number of parts that one reading takes; the next
// reading takes the rest.
constexpr milliseconds kNextPart{10};
constexpr int kMaxParts = 32;

}  // namespace

Readings::Readings(const Wake& wake)
    : wake_(wake), thread_([this] { Run(); }) {}

Readings::~Readings() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::optional<Readings::Reading> Readings::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(latest_, std::nullopt);
}

void Readings::ReadNow() {
  {
    const std::lock_guard lock(mutex_);
    again_ = true;
  }
  changed_.notify_one();
}

std::optional<Readings::Clock::duration> Readings::asking() const {
  const std::lock_guard lock(mutex_);
  if (!asking_since_) return std::nullopt;
  return Clock::now() - *asking_since_;
}

void Readings::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    again_ = false;
    asking_since_ = Clock::now();
    lock.unlock();
    wake_.Signal();
    Reading reading = Read();
    lock.lock();
    asking_since_.reset();
    latest_ = std::move(reading);
    wake_.Signal();
    changed_.wait_for(lock, kPause, [this] { return stop_ || again_; });
  }
}

Readings::Reading Readings::Read() {
  // Events are read first, so that the sessions that they name are in the
  // reading, and DropOthers() keeps their causes.
  FollowEvents();
  Result<RunningHosts> running = FindRunningHosts(milliseconds(0));
  if (!running) return {.table = {}, .error = running.error().message()};
  rates_.Fill(*running, Clock::now());
  causes_.DropOthers(*running);
  return {.table = TableOf(*running, causes_), .error = {}};
}

void Readings::FollowEvents() {
  if (!follower_) {
    auto follower = EventFollower::Create(std::nullopt);
    // Create() fails if no application runs; the reading then says so.
    if (!follower) return;
    follower_ = *std::move(follower);
  }
  for (int part = 0; part < kMaxParts; ++part) {
    const auto events = follower_->Next(kNextPart);
    if (!events) {
      follower_.reset();
      return;
    }
    if (events->empty()) return;
    causes_.Add(*events);
  }
}

}  // namespace bulkhead::cli::top
