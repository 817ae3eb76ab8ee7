// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace bulkhead::worker {

// Runs one task at a time beside the thread that owns it.
//
//     SideThread beside;
//     beside.Begin([&] { Convert(picture, slot); });
//     DecodeNext();        // meanwhile
//     beside.Finish();     // the task has run
//
// A task that the thread has not begun by Finish() is run by Finish() itself:
// where no second processor is free, nothing waits for the thread to get one.
// The thread starts with the first task. Where it cannot be started, Finish()
// runs every task.
//
// Begin() and Finish() are for one thread. A task must not throw.
class SideThread {
 public:
  SideThread() = default;
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  // Finishes the task.
  ~SideThread();

  // Hands a task over. Finish() must have been called since the last one.
  void Begin(std::function<void()> task);
  // Returns once the task has run, at once if there is none.
  void Finish();

 private:
  enum class State { kIdle, kHandedOver, kRunning, kEnding };

  void Run();
  bool Start();

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;  // guarded by mutex_
  std::function<void()> task_;  // guarded by mutex_, but for who runs it
  std::thread thread_;
  bool cannot_start_ = false;
};

}  // namespace bulkhead::worker
