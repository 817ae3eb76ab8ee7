// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/common.h>
#include <kj/function.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "ipc/error.h"
#include "ipc/region_header.h"

namespace bulkhead::ipc {

// A single-producer, single-consumer ring of Cap'n Proto messages for one
// direction of a session. The ring lies in shared memory that only the producer
// can write. FORMAT.md specifies the layout.
//
// The producer builds a message in place. The consumer copies a message to
// private memory before reading it: if a hostile producer could change the
// message during the reading, Cap'n Proto would read outside the message.
//
//   writer.TryWrite(32, [&](capnp::MessageBuilder& message) {
//     message.initRoot<schema::Request>().initGrant().setSlot(slot);
//   });
//   WakePeer(peer_header, peer_eventfd);
//
// Trust: both classes validate every word that the peer can write. Each such
// word is loaded exactly once and compared with private copies of both cursors.
// An impossible value gives kBackendMisbehaved and consumes nothing; the caller
// then ends the session. A Cap'n Proto builder checks nothing, so messages are
// only built in memory that the peer cannot write.
//
// Threads: each object is used by one thread at a time. The memory must outlive
// the object.

class RingWriter {
 public:
  // `own_region` holds the ring and must be all zeros. `peer_header` is the
  // header of the consumer's region, where the consumer publishes its read
  // cursor. `ring_bytes` is a power of two.
  RingWriter(std::span<std::byte> own_region, const RegionHeader* peer_header,
             size_t ring_bytes);

  // Builds a message of at most `max_words` words in the ring and publishes it.
  // Returns kResourceExhausted if the ring has no room now; the consumer makes
  // room by reading. Returns kInternal if `fill` needed more than `max_words`;
  // nothing is published then.
  Expected<void> TryWrite(size_t max_words,
                          kj::FunctionParam<void(capnp::MessageBuilder&)> fill);

  // These two do TryWrite in two steps. Reserve() returns zeroed words in the
  // ring for a FlatMessageBuilder. Commit() publishes the first `words` of
  // them. A second Reserve() cancels a reservation that was not committed.
  Expected<kj::ArrayPtr<capnp::word>> Reserve(size_t words);
  void Commit(size_t words);

  // Returns whether a caller that waits for room should call Reserve(words)
  // now. Returns true also if Reserve(words) would fail for another reason than
  // the lack of room, so that the caller stops waiting and gets that error.
  bool HasRoom(size_t words);

 private:
  // Returns the number of bytes to skip so that a record of `words` words does
  // not wrap, or kResourceExhausted if the ring has no room for the record.
  Expected<size_t> FindRoom(size_t words);

  std::byte* ring_;
  RegionHeader* own_;
  const RegionHeader* peer_;
  size_t ring_bytes_;
  // Private copies of this side's write cursor and of the peer's last valid
  // read cursor.
  uint64_t written_ = 0;
  uint64_t last_read_seen_ = 0;
  // The number of bytes at the end of the ring that Commit() skips before the
  // reserved record.
  size_t reserved_skip_ = 0;
};

// Refers to a message in the private memory of a RingReader. Valid until that
// reader's next TryRead().
class CopiedMessage {
 public:
  explicit CopiedMessage(capnp::MessageReader* reader) : reader_(reader) {}

  // Returns the root of the message. Throws kj::Exception if the message is
  // malformed, as all getters do: call inside ReadCatching (ipc/capnp_read.h).
  template <typename T>
  typename T::Reader root() const {
    return reader_->getRoot<T>();
  }

 private:
  capnp::MessageReader* reader_;
};

// Reads messages from a ring, for the consumer; RingWriter has the rules.
class RingReader {
 public:
  // `peer_region` holds the ring. `own_header` is the header of this side's
  // region, where the reader publishes its read cursor.
  RingReader(std::span<const std::byte> peer_region, RegionHeader* own_header,
             size_t ring_bytes);

  // Copies the next message out of the ring and frees its room. Returns nullopt
  // if there is no message yet. If the peer may be waiting for room, call
  // WakePeer(..., WakeReason::kRoom) afterwards.
  Expected<std::optional<CopiedMessage>> TryRead();

 private:
  struct Copy;
  struct CopyDeleter {
    void operator()(Copy* copy) const;
  };

  const std::byte* ring_;
  const RegionHeader* peer_;
  RegionHeader* own_;
  size_t ring_bytes_;
  // Private copies of this side's read cursor and of the peer's last valid
  // write cursor.
  uint64_t read_ = 0;
  uint64_t last_written_seen_ = 0;
  std::unique_ptr<Copy, CopyDeleter> copy_;
};

}  // namespace bulkhead::ipc
