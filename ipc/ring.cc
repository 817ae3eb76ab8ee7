// SPDX-License-Identifier: Apache-2.0
#include "ipc/ring.h"

#include <capnp/any.h>
#include <kj/exception.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "ipc/capnp_read.h"
#include "ipc/try.h"

namespace bulkhead::ipc {
namespace {

constexpr size_t kWord = sizeof(capnp::word);
// Stands in place of a record's size, and says that the next record lies at the
// start of the ring.
constexpr uint32_t kSkipToStart = 0xFFFFFFFF;

// The first word of a record is read and written as one integer: the low half
// is the record's size in bytes, the high half is zero.
static_assert(std::endian::native == std::endian::little);

tl::unexpected<Error> Misbehaved(const char* what) {
  return Fail(Code::kBackendMisbehaved,
              std::string("the peer of a ring broke the protocol: ") + what);
}

// Loads a word that the peer may be writing. The atomic load keeps the compiler
// from loading the word a second time after it was validated.
uint64_t FetchOnce(const std::byte* address) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(address),
                         __ATOMIC_RELAXED);
}

void CopyUntrusted(std::span<capnp::word> to, const std::byte* from) {
  for (capnp::word& word : to) {
    const uint64_t value = FetchOnce(from);
    memcpy(static_cast<void*>(&word), &value, kWord);
    from += kWord;
  }
}

}  // namespace

RingWriter::RingWriter(std::span<std::byte> own_region,
                       const RegionHeader* peer_header, size_t ring_bytes)
    : ring_(own_region.data() + RingGeometry::kRingOffset),
      own_(HeaderOf(own_region)),
      peer_(peer_header),
      ring_bytes_(ring_bytes) {
  assert(std::has_single_bit(ring_bytes));
  assert(ring_bytes >= 2 * RingGeometry::kMaxRecordBytes);
  assert(own_region.size() >= RingGeometry::kRingOffset + ring_bytes);
}

Expected<void> RingWriter::TryWrite(
    size_t max_words, kj::FunctionParam<void(capnp::MessageBuilder&)> fill) {
  IPC_ASSIGN_OR_RETURN(const auto reserved, Reserve(max_words));
  try {
    capnp::FlatMessageBuilder message(reserved);
    fill(message);
    // This gives a message that `fill` left empty its root pointer.
    message.getRoot<capnp::AnyPointer>();
    Commit(message.getSegmentsForOutput()[0].size());
    return {};
  } catch (const kj::Exception& exception) {
    return Fail(Code::kInternal,
                std::string("cannot build a message in the ring: ") +
                    exception.getDescription().cStr());
  }
}

Expected<size_t> RingWriter::FindRoom(size_t words) {
  if (words == 0 || words > RingGeometry::kMaxMessageWords) {
    return Fail(Code::kInvalidArgument,
                "a message of " + std::to_string(words) +
                    " words does not fit a record of the ring");
  }
  const uint64_t read_untrusted = peer_->read_cursor.load();
  if (read_untrusted % kWord != 0 || read_untrusted < last_read_seen_ ||
      read_untrusted > written_) {
    return Misbehaved("its read cursor is impossible");
  }
  last_read_seen_ = read_untrusted;
  const size_t record = (1 + words) * kWord;
  const size_t to_end = ring_bytes_ - (written_ & (ring_bytes_ - 1));
  const size_t skip = record > to_end ? to_end : 0;
  const size_t room = ring_bytes_ - (written_ - last_read_seen_);
  if (skip + record > room) {
    return Fail(Code::kResourceExhausted,
                "the ring is full: wait until its reader has made room");
  }
  return skip;
}

Expected<kj::ArrayPtr<capnp::word>> RingWriter::Reserve(size_t words) {
  IPC_ASSIGN_OR_RETURN(reserved_skip_, FindRoom(words));
  const uint64_t at = (written_ + reserved_skip_) & (ring_bytes_ - 1);
  std::byte* start = ring_ + at + kWord;
  memset(start, 0, words * kWord);
  return kj::arrayPtr(reinterpret_cast<capnp::word*>(start), words);
}

void RingWriter::Commit(size_t words) {
  if (reserved_skip_ != 0) {
    const uint64_t skip = kSkipToStart;
    memcpy(ring_ + (written_ & (ring_bytes_ - 1)), &skip, kWord);
    written_ += std::exchange(reserved_skip_, 0);
  }
  const uint64_t header = words * kWord;
  memcpy(ring_ + (written_ & (ring_bytes_ - 1)), &header, kWord);
  written_ += (1 + words) * kWord;
  own_->write_cursor.store(written_);
}

bool RingWriter::HasRoom(size_t words) {
  const auto skip = FindRoom(words);
  return skip || skip.error().code != Code::kResourceExhausted;
}

// A private copy of the last message, and its reader.
struct RingReader::Copy {
  capnp::word words[RingGeometry::kMaxMessageWords];
  kj::ArrayPtr<const capnp::word> segment;
  std::optional<capnp::SegmentArrayMessageReader> reader;
};

void RingReader::CopyDeleter::operator()(Copy* copy) const { delete copy; }

RingReader::RingReader(std::span<const std::byte> peer_region,
                       RegionHeader* own_header, size_t ring_bytes)
    : ring_(peer_region.data() + RingGeometry::kRingOffset),
      peer_(HeaderOf(peer_region)),
      own_(own_header),
      ring_bytes_(ring_bytes),
      copy_(new Copy) {
  assert(std::has_single_bit(ring_bytes));
  assert(peer_region.size() >= RingGeometry::kRingOffset + ring_bytes);
}

Expected<std::optional<CopiedMessage>> RingReader::TryRead() {
  const uint64_t written_untrusted = peer_->write_cursor.load();
  if (written_untrusted % kWord != 0 ||
      written_untrusted < last_written_seen_ ||
      written_untrusted - read_ > ring_bytes_) {
    return Misbehaved("its write cursor is impossible");
  }
  last_written_seen_ = written_untrusted;
  size_t available = written_untrusted - read_;
  if (available == 0) return std::nullopt;

  size_t offset = read_ & (ring_bytes_ - 1);
  size_t skipped = 0;
  uint64_t header_untrusted = FetchOnce(ring_ + offset);
  if (header_untrusted == kSkipToStart) {
    skipped = ring_bytes_ - offset;
    // An honest writer publishes a skip together with the record after it.
    if (offset == 0 || available <= skipped) {
      return Misbehaved("a skip where nothing follows");
    }
    available -= skipped;
    offset = 0;
    header_untrusted = FetchOnce(ring_);
  }
  const size_t contiguous = std::min(available, ring_bytes_ - offset);
  if (header_untrusted == 0 || header_untrusted % kWord != 0 ||
      header_untrusted > RingGeometry::kMaxMessageWords * kWord ||
      header_untrusted + kWord > contiguous) {
    return Misbehaved("a record has an impossible length");
  }
  const size_t words = header_untrusted / kWord;
  // The previous message's reader refers to the words that are overwritten
  // next.
  copy_->reader.reset();
  CopyUntrusted({copy_->words, words}, ring_ + offset + kWord);
  read_ += skipped + (1 + words) * kWord;
  own_->read_cursor.store(read_);

  copy_->segment = kj::arrayPtr(copy_->words, words);
  copy_->reader.emplace(kj::arrayPtr(&copy_->segment, 1),
                        BoundedReaderOptions(words));
  return CopiedMessage(&*copy_->reader);
}

}  // namespace bulkhead::ipc
