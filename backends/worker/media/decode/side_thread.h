// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

namespace bulkhead::worker::decode {

// Runs a task on a second thread, once for each Begin() of the first thread.
//
//     SideThread beside([&] { Convert(picture, slot); });
//     beside.Begin();
//     DecodeNext();        // meanwhile
//     beside.Finish();     // the task has run
//
// If the second thread has not begun a run by Finish(), Finish() itself runs
// the task. So nothing waits for the second thread where no processor is free
// for it. The thread is started by the first Begin(). If it cannot be started,
// Finish() does every run.
//
// Begin() and Finish() must be called by the same thread. The task must not
// throw.
class SideThread {
 public:
  explicit SideThread(std::function<void()> task) : task_(std::move(task)) {}
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  // Finishes a run that was handed over.
  ~SideThread();

  // Hands over a run. Finish() must have been called since the last Begin().
  void Begin();
  // Returns once the task has run, at once if there is nothing to do.
  void Finish();

  // Waits, at most for `patience`, until the run has ended that the calling
  // thread has handed over to any SideThread. Called in the handler of a signal
  // that ends the process, so that the result of the run is not lost.
  static void AwaitBeforeDeath(std::chrono::milliseconds patience);

 private:
  enum State : int { kIdle, kHandedOver, kRunning, kEnding };

  void Start();
  void Run();  // runs on the second thread
  // Changes the state, and wakes the thread that waits for a change.
  void Set(State state);

  const std::function<void()> task_;
  // Each thread waits only for changes of the state that the other makes.
  std::atomic<int> state_ = kIdle;
  std::thread thread_;
  bool cannot_start_ = false;
};

}  // namespace bulkhead::worker::decode
