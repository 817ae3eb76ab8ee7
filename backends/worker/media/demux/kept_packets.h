// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

struct AVPacket;

namespace bulkhead::worker {

// The packets that were read of a stream since its beginning, as long as they
// are few. They let a reading begin anew without the file being opened again.
//
//     kept.Keep(*packet);                 // after each packet that was read
//     if (kept.has_all()) while (kept.TakeNext(packet)) Use(*packet);
//
// Shares the memory of the packets. Used by one thread.
class KeptPackets {
 public:
  // Keeps `packet`, which must not have been taken from here. Gives up all
  // packets once there are too many.
  void Keep(const AVPacket& packet);
  // Gives up all packets: what is read next is not the beginning.
  void GiveUp();
  // Returns whether all packets since the beginning are here, or were.
  bool has_all() const { return has_all_; }
  // Returns how many were kept.
  uint64_t count() const { return count_; }
  // Moves the first packet that is left to `packet`. Returns false if there is
  // none.
  bool TakeNext(AVPacket* packet);

 private:
  struct Free {
    void operator()(AVPacket* packet) const;
  };

  std::deque<std::unique_ptr<AVPacket, Free>> packets_;
  size_t bytes_ = 0;
  uint64_t count_ = 0;
  bool has_all_ = true;
};

}  // namespace bulkhead::worker
