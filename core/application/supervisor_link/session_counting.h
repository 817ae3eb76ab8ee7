// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/control/session_counters.h"
#include "core/include/bulkhead/status.h"
#include "ipc/shared_region.h"

namespace bulkhead::session {

// Assigns counters to the sessions of a host. The counters lie in memory that
// bulkheadd reads. Thread-safe.
class SessionCounting : public std::enable_shared_from_this<SessionCounting> {
 public:
  // One session's counter, which is free again once the lease is destroyed. A
  // lease that was default-constructed counts nothing, as does the lease of a
  // session beyond kMaxCountedSessions. Movable, not thread-safe.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    // Returns the number by which bulkheadd finds the counter;
    // kMaxCountedSessions if the lease counts nothing.
    uint32_t place() const { return place_; }
    void AddFrame();
    void AddRestart();
    // Record that a call of the application, which began at `since`, waits for
    // the session, and that none does.
    void BeginWait(std::chrono::steady_clock::time_point since);
    void EndWait();

   private:
    friend class SessionCounting;
    Lease(std::shared_ptr<SessionCounting> counting, uint32_t place)
        : counting_(std::move(counting)), place_(place) {}

    std::shared_ptr<SessionCounting> counting_;
    uint32_t place_ = kMaxCountedSessions;
  };

  static Result<std::shared_ptr<SessionCounting>> Create();

  Lease Take();
  // Returns the descriptor of the memory, to send to bulkheadd.
  int fd() const { return region_.fd(); }

 private:
  explicit SessionCounting(ipc::OwnedRegion region)
      : region_(std::move(region)) {}
  SessionCounter& At(uint32_t place) const;

  ipc::OwnedRegion region_;
  // Atomics instead of a mutex, which a fork() might leave locked.
  std::array<std::atomic<bool>, kMaxCountedSessions> taken_{};
};

}  // namespace bulkhead::session
