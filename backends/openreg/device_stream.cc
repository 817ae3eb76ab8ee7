// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_stream.h"

#include <memory>
#include <utility>

namespace bulkhead::openreg {

DeviceStream::DeviceStream() : thread_([this] { Run(); }) {}

DeviceStream::~DeviceStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void DeviceStream::Launch(Kernel kernel) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(kernel));
  }
  changed_.notify_one();
}

bool DeviceStream::Synchronize(std::chrono::milliseconds limit) {
  struct Mark {
    std::mutex mutex;
    std::condition_variable reached;
    bool done = false;
  };
  // The kernel may run after the wait has timed out, so both own the mark.
  const auto mark = std::make_shared<Mark>();
  Launch([mark] {
    {
      const std::lock_guard lock(mark->mutex);
      mark->done = true;
    }
    mark->reached.notify_all();
  });
  std::unique_lock lock(mark->mutex);
  return mark->reached.wait_for(lock, limit, [&mark] { return mark->done; });
}

void DeviceStream::Run() {
  for (;;) {
    Kernel kernel;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      kernel = std::move(queue_.front());
      queue_.pop_front();
    }
    kernel();
  }
}

}  // namespace bulkhead::openreg
