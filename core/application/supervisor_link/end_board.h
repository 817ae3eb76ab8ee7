// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/control/session_ends.h"
#include "core/include/bulkhead/status.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::supervisor_link {

// The shared memory in which one bulkheadd shows which workers have ended
// (core/control/session_ends.h). It is an array of futex words, called places.
// Each session takes a place, whose word bulkheadd sets when the session's
// worker has ended. A thread that waits for a worker sleeps on this word too.
//
// Thread-safe. Shared by SupervisorConnections and every Place, so that a Place
// stays valid after its bulkheadd was replaced.
class EndBoard : public std::enable_shared_from_this<EndBoard> {
 public:
  // Owns the place of one session, and frees it on destruction. An empty Place
  // owns none. Movable, not thread-safe.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : board_(std::move(other.board_)), number_(other.number_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(board_, other.board_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Place();

    explicit operator bool() const { return board_ != nullptr; }
    // Returns the index of the word; kMostSessionEnds if empty.
    uint32_t number() const { return number_; }
    // Returns the word that ends a wait when the worker of `session` has ended.
    ipc::WatchedWord WorkerOf(uint64_t session) const;
    // Returns the word that ends a wait when bulkheadd has ended.
    ipc::WatchedWord Supervisor() const;

   private:
    friend class EndBoard;
    Place(std::shared_ptr<EndBoard> board, uint32_t number)
        : board_(std::move(board)), number_(number) {}

    std::shared_ptr<EndBoard> board_;
    uint32_t number_ = kMostSessionEnds;
  };

  static Result<std::shared_ptr<EndBoard>> Create();

  // Takes a free place. Returns an empty Place if all are taken.
  Place Take();
  // Returns the descriptor of the memory, to send to bulkheadd.
  int fd() const { return region_.fd(); }
  // Closes the descriptor, once it was sent. The memory stays mapped.
  void CloseDescriptor() { region_.CloseDescriptor(); }

 private:
  explicit EndBoard(ipc::OwnedRegion region) : region_(std::move(region)) {}
  const SessionEnds& ends() const {
    return *reinterpret_cast<const SessionEnds*>(region_.bytes().data());
  }

  ipc::OwnedRegion region_;
  // True for each place that is taken. Atomics instead of a mutex, which a
  // fork() might leave locked.
  std::array<std::atomic<bool>, kMostSessionEnds> taken_{};
  // The place at which the next search for a free place begins. Searches go
  // through the array in a circle, so that a place is reused as late as
  // possible.
  std::atomic<uint32_t> next_ = 0;
};

}  // namespace bulkhead::supervisor_link
