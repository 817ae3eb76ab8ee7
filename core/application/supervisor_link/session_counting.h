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

// Assigns counters to the sessions of a host. The counters lie in memory that
// bulkheadd reads. Thread-safe.
class SessionCounting : public std::enable_shared_from_this<SessionCounting> {
 public:
  // One session's counter, which is free again once the lease is destroyed.
  // Nobody reads what a session beyond kMaxCountedSessions counts. Movable.
  class Lease {
   public:
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    // Returns the number by which bulkheadd finds the counter;
    // kMaxCountedSessions if nobody reads it.
    uint32_t place() const { return place_; }
    // Valid as long as the lease.
    SessionCounter& counter() const { return counting_->At(place_); }

   private:
    friend class SessionCounting;
    Lease(std::shared_ptr<SessionCounting> counting, uint32_t place)
        : counting_(std::move(counting)), place_(place) {}

    std::shared_ptr<SessionCounting> counting_;
    uint32_t place_;
  };

  static Result<std::shared_ptr<SessionCounting>> Create();

  Lease Take();
  // Returns the descriptor of the memory, to send to bulkheadd.
  int fd() const { return region_.fd(); }

 private:
  explicit SessionCounting(ipc::OwnedRegion region)
      : region_(std::move(region)) {}
  SessionCounter& At(uint32_t place);

  ipc::OwnedRegion region_;
  SessionCounter unread_ = {};
  // Atomics instead of a mutex, which a fork() might leave locked.
  std::array<std::atomic<bool>, kMaxCountedSessions> taken_{};
};

}  // namespace bulkhead::supervisor_link
