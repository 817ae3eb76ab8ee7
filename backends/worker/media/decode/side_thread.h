// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

namespace bulkhead::worker {

// Runs a task again and again beside the thread that owns it.
//
//     SideThread beside([&] { Convert(picture, slot); });
//     beside.Begin();
//     DecodeNext();        // meanwhile
//     beside.Finish();     // the task has run
//
// A run that the thread has not begun by Finish() is done by Finish() itself:
// where no second processor is free, nothing waits for the thread to get one.
// The thread starts with the first run. Where it cannot be started, Finish()
// does every run.
//
// Begin() and Finish() are for one thread. The task must not throw.
class SideThread {
 public:
  explicit SideThread(std::function<void()> task) : task_(std::move(task)) {}
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  // Finishes the run.
  ~SideThread();

  // Hands a run over. Finish() must have been called since the last one.
  void Begin();
  // Returns once the task has run, at once if there is nothing to do.
  void Finish();

  // Waits until the run that the calling thread has handed over has ended, at
  // most for `patience`. For the handler of a signal that ends the process:
  // what the thread beside is about to finish is then not lost.
  static void AwaitBeforeDeath(std::chrono::milliseconds patience);

 private:
  enum State : int { kIdle, kHandedOver, kRunning, kEnding };

  void Start();
  void Run();
  void Set(State state);

  const std::function<void()> task_;
  // Each side waits for a change that only the other one makes.
  std::atomic<int> state_ = kIdle;
  std::thread thread_;
  bool cannot_start_ = false;
};

}  // namespace bulkhead::worker
