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
// A kernel may use only objects that outlive the stream, since the kernel may
// still run after a wait has timed out. Launch, Record and the waits may be
// called from any thread except the stream's own. The destructor runs all
// launched kernels and joins the thread. Kernels must not throw.
class DeviceStream {
 public:
  // Marks a point in the order of launches. The event is complete when all
  // kernels launched before have been executed (not only taken from the queue).
  // Cheap to copy.
  class Event {
   public:
    bool Query() const;
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
  Event Record();
  // Makes later kernels of this stream wait for an event of another stream. An
  // event that this stream records later would never complete.
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
