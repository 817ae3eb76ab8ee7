// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace bulkhead::openreg {

// A queue of kernels that one thread executes in order, like a stream of a real
// accelerator. Launch returns at once; callers that need a result must wait.
//
//     DeviceStream stream;
//     stream.Launch([&] { result = Work(); });
//     if (!stream.Synchronize(std::chrono::seconds(5))) ...  // it hangs
//
// A kernel may still run after a wait has timed out, so it may use only objects
// that outlive the stream. Launch, Record and the waits may be called from any
// thread except the stream's own. The destructor runs all launched kernels and
// joins the thread. Kernels must not throw.
class DeviceStream {
 public:
  // A point in the order of launches. The event is complete when all kernels
  // that were launched before it have returned. Cheap to copy.
  class Event {
   public:
    // Returns whether the event is complete.
    bool Query() const;
    // Waits until the event is complete, at most `limit`. Returns whether it
    // is.
    bool Wait(std::chrono::milliseconds limit) const;

   private:
    friend class DeviceStream;
    struct State {
      std::mutex mutex;
      std::condition_variable completed;
      bool done = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
  };

  using Kernel = std::function<void()>;

  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  void Launch(Kernel kernel);
  // Returns an event that is complete when all kernels launched so far are
  // done.
  Event Record();
  // Makes later kernels of this stream wait for `event`, which comes from
  // another stream or was recorded by this one before.
  void WaitFor(const Event& event);

  // Waits until all launched kernels are done. Returns false if that takes
  // longer than `limit`.
  bool Synchronize(std::chrono::milliseconds limit);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Kernel> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace bulkhead::openreg
