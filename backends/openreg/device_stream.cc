// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_stream.h"

#include <utility>

namespace bulkhead::openreg {

bool DeviceStream::Event::Query() const {
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

bool DeviceStream::Event::Wait(std::chrono::milliseconds limit) const {
  std::unique_lock lock(state_->mutex);
  return state_->completed.wait_for(lock, limit,
                                    [this] { return state_->done; });
}

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

DeviceStream::Event DeviceStream::Record() {
  Event event;
  Launch([state = event.state_] {
    {
      const std::lock_guard lock(state->mutex);
      state->done = true;
    }
    state->completed.notify_all();
  });
  return event;
}

void DeviceStream::WaitFor(const Event& event) {
  // The kernel waits without a deadline, as a device does. Callers of
  // Synchronize and Event::Wait set deadlines.
  Launch([state = event.state_] {
    std::unique_lock lock(state->mutex);
    state->completed.wait(lock, [&state] { return state->done; });
  });
}

bool DeviceStream::Synchronize(std::chrono::milliseconds limit) {
  return Record().Wait(limit);
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
