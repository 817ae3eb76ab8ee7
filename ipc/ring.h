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

// One direction of a session: a single-producer, single-consumer ring of
// Cap'n Proto messages in memory that only the producer can write. FORMAT.md
// is its specification.
//
// A message is built where it will lie and is copied out before it is read: a
// Cap'n Proto reader over memory that its producer can still change hands out
// values from outside the message.
//
//   writer.TryWrite(32, [&](capnp::MessageBuilder& message) {
//     message.initRoot<schema::Request>().initGrant().setSlot(slot);
//   });
//   WakePeer(peer_header, peer_eventfd);
//
// Trust: neither class believes a word that the peer can write. Each is fetched
// exactly once and validated against private copies of both cursors; a lie is
// kBackendMisbehaved and consumes nothing. The caller ends the session then.
// Built messages go into memory that the peer cannot write, since a builder
// checks nothing.
//
// Threads: one thread at a time for each object. The memory must outlive it.

class RingWriter {
 public:
  // `own_region` is the ring's, fresh (zeros); `peer_header` begins the region
  // in which the consumer publishes its read cursor.
  RingWriter(std::span<std::byte> own_region, const RegionHeader* peer_header,
             size_t ring_bytes);

  // Builds a message of at most `max_words` in the ring and publishes it.
  // kResourceExhausted: no room now; the consumer makes some by reading.
  // kInternal: `fill` needed more than `max_words`, nothing is published.
  Expected<void> TryWrite(size_t max_words,
                          kj::FunctionParam<void(capnp::MessageBuilder&)> fill);

  // The same in two steps: zeroed words in the ring, for a FlatMessageBuilder,
  // of which the first `words` are then published. A reservation that is not
  // committed is void when the next begins.
  Expected<kj::ArrayPtr<capnp::word>> Reserve(size_t words);
  void Commit(size_t words);

  // Whether Reserve(words) would find room: to wait for. True also when the
  // answer would be another error.
  bool HasRoom(size_t words);

 private:
  // How many bytes a record must skip to lie in one piece.
  Expected<size_t> FindRoom(size_t words);

  std::byte* ring_;
  RegionHeader* own_;
  const RegionHeader* peer_;
  size_t ring_bytes_;
  uint64_t written_ = 0;
  uint64_t last_read_seen_ = 0;
  // Bytes to skip at the end of the ring before the reserved record.
  size_t reserved_skip_ = 0;
};

// A message in the reader's private memory, until its next TryRead.
class CopiedMessage {
 public:
  explicit CopiedMessage(capnp::MessageReader* reader) : reader_(reader) {}

  // Throws kj::Exception when malformed, as do all getters: use inside
  // ReadCatching (ipc/capnp_read.h).
  template <typename T>
  typename T::Reader root() const {
    return reader_->getRoot<T>();
  }

 private:
  capnp::MessageReader* reader_;
};

class RingReader {
 public:
  // `peer_region` is the ring's; `own_header` begins the region in which this
  // side publishes its read cursor.
  RingReader(std::span<const std::byte> peer_region, RegionHeader* own_header,
             size_t ring_bytes);

  // The next message, nullopt when there is none yet. Frees its room in the
  // ring; WakePeer(..., WakeReason::kRoom) afterwards if the peer may wait.
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
  uint64_t read_ = 0;
  uint64_t last_written_seen_ = 0;
  std::unique_ptr<Copy, CopyDeleter> copy_;
};

}  // namespace bulkhead::ipc
