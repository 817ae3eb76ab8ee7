// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/side_thread.h"

#include <system_error>
#include <utility>

namespace bulkhead::worker {

SideThread::~SideThread() {
  Finish();
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kEnding;
  }
  changed_.notify_all();
  thread_.join();
}

bool SideThread::Start() {
  if (thread_.joinable()) return true;
  if (cannot_start_) return false;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // The limit on threads or on memory. It will not be raised.
    cannot_start_ = true;
  }
  return !cannot_start_;
}

void SideThread::Begin(std::function<void()> task) {
  const bool wakes = Start();
  {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    state_ = State::kHandedOver;
  }
  if (wakes) changed_.notify_all();
}

void SideThread::Finish() {
  std::unique_lock lock(mutex_);
  if (state_ == State::kHandedOver) {
    state_ = State::kIdle;
    const auto task = std::exchange(task_, nullptr);
    lock.unlock();
    task();
    return;
  }
  changed_.wait(lock, [this] { return state_ == State::kIdle; });
}

void SideThread::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      return state_ == State::kHandedOver || state_ == State::kEnding;
    });
    if (state_ == State::kEnding) return;
    state_ = State::kRunning;
    const auto task = std::exchange(task_, nullptr);
    lock.unlock();
    task();
    lock.lock();
    state_ = State::kIdle;
    changed_.notify_all();
  }
}

}  // namespace bulkhead::worker
