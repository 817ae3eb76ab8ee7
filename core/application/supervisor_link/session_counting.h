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

namespace bulkhead::session {

// The counters of a host's sessions, and who has which. Thread-safe.
class SessionCounting : public std::enable_shared_from_this<SessionCounting> {
 public:
  // One session's; given back with it. Movable, not thread-safe. Default: it
  // counts nothing.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    // As bulkheadd is told it; kMaxCountedSessions: it counts nothing.
    uint32_t place() const { return place_; }
    void AddFrame();
    void AddRestart();

   private:
    friend class SessionCounting;
    Lease(std::shared_ptr<SessionCounting> counting, uint32_t place)
        : counting_(std::move(counting)), place_(place) {}

    std::shared_ptr<SessionCounting> counting_;
    uint32_t place_ = kMaxCountedSessions;
  };

  static Result<std::shared_ptr<SessionCounting>> Create();

  Lease Take();
  // For bulkheadd.
  int fd() const { return region_.fd(); }

 private:
  explicit SessionCounting(ipc::OwnedRegion region)
      : region_(std::move(region)) {}
  SessionCounter& At(uint32_t place) const;

  ipc::OwnedRegion region_;
  // No mutex, which a fork() might leave locked.
  std::array<std::atomic<bool>, kMaxCountedSessions> taken_{};
};

}  // namespace bulkhead::session
