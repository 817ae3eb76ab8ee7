// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/control/session_counters.h"
#include "core/include/bulkhead/status.h"
#include "ipc/shared_region.h"

namespace bulkhead::supervisor_link {

// Assigns a counter (core/control/session_counters.h) to each session of a
// Host. The counters lie in shared memory that bulkheadd reads for operators.
// Thread-safe. Owned by SupervisorLink and by every Lease.
class SessionCounting : public std::enable_shared_from_this<SessionCounting> {
 public:
  // The counter of one session. It is free again once the lease is destroyed.
  // If kMaxCountedSessions sessions have counters, further sessions share one
  // that nobody reads. Movable.
  class Lease {
   public:
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    // Returns the index of the counter in the shared memory;
    // kMaxCountedSessions for the counter that nobody reads.
    uint32_t place() const { return place_; }
    // Returns the counter, which is valid as long as the lease exists.
    SessionCounter& counter() const { return counting_->At(place_); }

   private:
    friend class SessionCounting;
    Lease(std::shared_ptr<SessionCounting> counting, uint32_t place)
        : counting_(std::move(counting)), place_(place) {}

    std::shared_ptr<SessionCounting> counting_;
    uint32_t place_;
  };

  static Result<std::shared_ptr<SessionCounting>> Create();

  // Assigns a free counter, set to 0.
  Lease Take();
  // Returns the descriptor of the memory, to send to bulkheadd.
  int fd() const { return region_.fd(); }

 private:
  explicit SessionCounting(ipc::OwnedRegion region)
      : region_(std::move(region)) {}
  SessionCounter& At(uint32_t place);

  ipc::OwnedRegion region_;
  SessionCounter unread_ = {};  // shared by sessions without their own counter
  // True for each index whose counter is assigned. Atomics instead of a mutex,
  // which a fork() might leave locked.
  std::array<std::atomic<bool>, kMaxCountedSessions> taken_{};
};

}  // namespace bulkhead::supervisor_link
