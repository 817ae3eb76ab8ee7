// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/side_thread.h"

#include <sched.h>

#include <system_error>

namespace bulkhead::worker::decode {
namespace {

// The state of the run that this thread has handed over; null if there is none.
thread_local const std::atomic<int>* handed_over = nullptr;

}  // namespace

SideThread::~SideThread() {
  Finish();
  if (!thread_.joinable()) return;
  Set(kEnding);
  thread_.join();
}

void SideThread::Start() {
  if (thread_.joinable() || cannot_start_) return;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // A limit on threads or memory was met. It will not change.
    cannot_start_ = true;
  }
}

void SideThread::Set(State state) {
  state_ = state;
  state_.notify_one();
}

void SideThread::Begin() {
  Start();
  Set(kHandedOver);
  if (!cannot_start_) handed_over = &state_;
}

void SideThread::Finish() {
  // Takes the run back if the second thread has not begun it.
  int state = kHandedOver;
  if (state_.compare_exchange_strong(state, kIdle)) {
    task_();
  } else if (state == kRunning) {
    state_.wait(kRunning);
  }
  handed_over = nullptr;
}

void SideThread::AwaitBeforeDeath(std::chrono::milliseconds patience) {
  const std::atomic<int>* const state = handed_over;
  if (state == nullptr) return;
  const auto end = std::chrono::steady_clock::now() + patience;
  // state_.wait() might take a lock of the library, which a handler must not.
  while (*state != kIdle && std::chrono::steady_clock::now() < end) {
    sched_yield();
  }
}

void SideThread::Run() {
  for (;;) {
    state_.wait(kIdle);
    int state = kHandedOver;
    if (state_.compare_exchange_strong(state, kRunning)) {
      task_();
      Set(kIdle);
    } else if (state == kEnding) {
      return;
    }
  }
}

}  // namespace bulkhead::worker::decode
