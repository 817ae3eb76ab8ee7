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

// The memory in which one bulkheadd shows the ends of workers
// (core/control/session_ends.h), and who has which place in it. Owned by the
// link to that bulkheadd and by every place. Thread-safe.
class EndBoard : public std::enable_shared_from_this<EndBoard> {
 public:
  // The place of one session, free again once it is destroyed. An empty place
  // says nothing. Movable, not thread-safe.
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
    uint32_t number() const { return number_; }
    // The word that ends a wait for the worker of `session`.
    ipc::WatchedWord WorkerOf(uint64_t session) const;
    // The word that ends a wait for anything of that bulkheadd.
    ipc::WatchedWord Supervisor() const;

   private:
    friend class EndBoard;
    Place(std::shared_ptr<EndBoard> board, uint32_t number)
        : board_(std::move(board)), number_(number) {}

    std::shared_ptr<EndBoard> board_;
    uint32_t number_ = kMostSessionEnds;
  };

  static Result<std::shared_ptr<EndBoard>> Create();

  // Returns an empty place if all are taken.
  Place Take();
  // Returns the descriptor to send to bulkheadd, and closes it.
  int fd() const { return region_.fd(); }
  void CloseDescriptor() { region_.CloseDescriptor(); }

 private:
  explicit EndBoard(ipc::OwnedRegion region) : region_(std::move(region)) {}
  const SessionEnds& ends() const {
    return *reinterpret_cast<const SessionEnds*>(region_.bytes().data());
  }

  ipc::OwnedRegion region_;
  // Atomics instead of a mutex, which a fork() might leave locked.
  std::array<std::atomic<bool>, kMostSessionEnds> taken_{};
  // A place is taken again as late as possible.
  std::atomic<uint32_t> next_ = 0;
};

}  // namespace bulkhead::supervisor_link
