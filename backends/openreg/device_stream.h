// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
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
// that outlive the stream. Launch and Synchronize may be called from any thread
// except the stream's own. The destructor runs all launched kernels and joins
// the thread. Kernels must not throw.
class DeviceStream {
 public:
  using Kernel = std::function<void()>;

  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  void Launch(Kernel kernel);
  // Waits until all kernels launched so far are done. Returns false if that
  // takes longer than `limit`.
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
