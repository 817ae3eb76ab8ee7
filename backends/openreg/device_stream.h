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

// A queue of kernels that one thread executes in order, as an accelerator's
// stream does. Launching returns at once; whoever wants a result waits.
//
//     DeviceStream stream;
//     stream.Launch([&] { result = Work(); });
//     if (!stream.Synchronize(std::chrono::seconds(5))) ...  // it hangs
//
// A kernel may use only what outlives the stream: after a wait that ran out of
// time it may still run. Launch, Record and the waits may be called from any
// thread but the stream's own. Destruction runs what was launched and joins;
// kernels do not throw.
class DeviceStream {
 public:
  // A point in the stream's order: complete when all that was launched before
  // it has been executed, not merely taken from the queue. Cheap to copy.
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
  // Later kernels of this stream wait for an event of another one. An event
  // that this stream itself records later would never come.
  void WaitFor(const Event& event);

  // False: not all that was launched was done within the limit.
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
