// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what a host makes of the replies of a worker: reading the ring, the
// messages, their validation, and the frames and samples that they publish. The
// first byte of the input says what the host has asked for; the rest is what
// the worker writes into its ring, record by record.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "ipc/capnp_read.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/reply_check.h"

namespace {

using namespace bulkhead;

// Smaller than a real ring, so that the records of a short input reach its end.
constexpr size_t kRingBytes = 2048;

// The worker's side of the ring of replies.
class Worker {
 public:
  explicit Worker(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // Writes as much as the first word of the next record says, and a skip
  // together with the record after it. Returns false at the end of the input.
  bool WriteRecord() {
    size_t piece = 0;
    while (bytes_.size() >= 8 && piece + 8 <= kRingBytes) {
      uint32_t length = 0;
      std::memcpy(&length, bytes_.data(), sizeof length);
      const bool skips = length == 0xFFFFFFFF;
      const size_t left = kRingBytes - (written_ & (kRingBytes - 1));
      const size_t wanted = skips ? left : 8 + size_t{length / 8} * 8;
      // The bytes of a skip are not in the input.
      const size_t given = skips ? 8 : std::min(wanted, bytes_.size() / 8 * 8);
      const size_t fitting = std::min(given, kRingBytes - piece);
      for (size_t i = 0; i < fitting; ++i) {
        region_[ipc::RingGeometry::kRingOffset +
                ((written_ + i) & (kRingBytes - 1))] =
            static_cast<std::byte>(bytes_[i]);
      }
      bytes_ = bytes_.subspan(fitting);
      written_ += skips ? left : fitting;
      piece += skips ? left : fitting;
      if (!skips) break;
    }
    ipc::HeaderOf(std::span(region_))->write_cursor.store(written_);
    return piece > 0;
  }

  std::span<const std::byte> region() const { return region_; }

 private:
  std::span<const uint8_t> bytes_;
  std::vector<std::byte> region_ =
      std::vector<std::byte>(ipc::RingGeometry::kRingOffset + kRingBytes);
  uint64_t written_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  fuzz::ReplyCheck check({.native = (data[0] & 1) != 0,
                          .autoscale = (data[0] & 2) == 0,
                          .float32 = (data[0] & 4) != 0,
                          .maps_privately = (data[0] & 8) != 0});
  Worker worker({data + 1, size - 1});
  ipc::RegionHeader own{};
  ipc::RingReader reader(worker.region(), &own, kRingBytes);
  while (worker.WriteRecord()) {
    const auto read = reader.TryRead();
    // The host ends a worker whose ring it cannot read.
    if (!read) break;
    FUZZ_CHECK(*read);
    (void)ipc::ReadCatching(
        [&] { return check.Take((*read)->root<ipc::schema::Reply>()); });
  }
  return 0;
}
