// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

struct AVPacket;

namespace bulkhead::worker::demux {

// Keeps the packets that were read from a stream since its beginning, as long
// as they are few. With them, the stream can be read from its beginning again
// without opening the file again.
//
//     kept.Keep(*packet);                 // after each packet that was read
//     if (kept.has_all()) while (kept.TakeNext(packet)) Use(*packet);
//
// Shares the memory of the packets. Used by one thread.
class KeptPackets {
 public:
  // Keeps a packet that was read from the file (not one from TakeNext). Once
  // there are too many packets, gives up all of them.
  void Keep(const AVPacket& packet);
  // Drops all packets, and keeps none from now on. Call this when a packet is
  // skipped, for example by a seek.
  void GiveUp();
  // Returns whether every packet since the beginning was kept.
  bool has_all() const { return has_all_; }
  // Returns how many packets were kept, including those taken since.
  uint64_t count() const { return count_; }
  // Moves the first packet that is left to `packet`. Returns false if no packet
  // is left.
  bool TakeNext(AVPacket* packet);

 private:
  struct Free {
    void operator()(AVPacket* packet) const;
  };

  std::deque<std::unique_ptr<AVPacket, Free>> packets_;
  size_t bytes_ = 0;  // of all packets that were kept
  uint64_t count_ = 0;
  bool has_all_ = true;
};

}  // namespace bulkhead::worker::demux
