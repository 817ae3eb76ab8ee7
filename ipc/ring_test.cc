// SPDX-License-Identifier: Apache-2.0
#include "ipc/ring.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/schema/session.capnp.h"
#include "tests/support/rows.h"

namespace bulkhead::ipc {
namespace {

constexpr size_t kRingBytes = RingGeometry::kRequestRingBytes;
constexpr size_t kRegionBytes = RingGeometry::kRequestRegionBytes;
constexpr uint64_t kSkip = 0xFFFFFFFF;

struct alignas(4096) Region {
  std::byte bytes[kRegionBytes] = {};

  RegionHeader* header() { return HeaderOf(std::span<std::byte>(bytes)); }
  uint64_t* ring() {
    return reinterpret_cast<uint64_t*>(bytes + RingGeometry::kRingOffset);
  }
};

class RingTest : public testing::Test {
 protected:
  // Writes a request that carries `id` and `padding` bytes of text.
  Expected<void> Write(uint32_t id, size_t padding = 0) {
    const size_t words = 32 + padding / 8;
    return writer_.TryWrite(words, [&](capnp::MessageBuilder& message) {
      auto open = message.initRoot<schema::Request>().initOpen();
      open.setDevice(id);
      if (padding != 0) open.setNameHint(std::string(padding, 'x'));
    });
  }

  // Returns the id of the next message, or nullopt if there is none.
  Expected<std::optional<uint32_t>> Read() {
    return ReadCatching([&]() -> Expected<std::optional<uint32_t>> {
      auto message = reader_.TryRead();
      if (!message) return tl::unexpected(message.error());
      if (!*message) return std::nullopt;
      return (*message)->root<schema::Request>().getOpen().getDevice();
    });
  }

  void ExpectReadMisbehaved() {
    const uint64_t before = reads_->header()->read_cursor;
    const auto message = reader_.TryRead();
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, Code::kBackendMisbehaved);
    EXPECT_EQ(reads_->header()->read_cursor, before) << "consumed a lie";
  }

  // Publishes `words` words from the start of the ring, as a hostile producer.
  void PublishRaw(std::initializer_list<uint64_t> words, uint64_t cursor) {
    std::copy(words.begin(), words.end(), ring_->ring());
    ring_->header()->write_cursor = cursor;
  }

  std::unique_ptr<Region> ring_ = std::make_unique<Region>();
  std::unique_ptr<Region> reads_ = std::make_unique<Region>();
  RingWriter writer_{ring_->bytes, reads_->header(), kRingBytes};
  RingReader reader_{ring_->bytes, reads_->header(), kRingBytes};
};

TEST_F(RingTest, AnEmptyRingHasNoMessage) {
  const auto id = Read();
  ASSERT_TRUE(id);
  EXPECT_FALSE(*id);
}

TEST_F(RingTest, MessagesArriveInOrder) {
  for (uint32_t id = 1; id <= 3; ++id) ASSERT_TRUE(Write(id));
  for (uint32_t id = 1; id <= 3; ++id) EXPECT_EQ(Read()->value(), id);
  EXPECT_FALSE(*Read());
}

TEST_F(RingTest, AnEmptyMessageIsOneOfDefaults) {
  ASSERT_TRUE(writer_.TryWrite(1, [](capnp::MessageBuilder&) {}));
  const auto message = reader_.TryRead();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->root<schema::Request>().which(), schema::Request::OPEN);
}

TEST_F(RingTest, OnlyTheUsedWordsOfAReservationAreTaken) {
  ASSERT_TRUE(writer_.TryWrite(RingGeometry::kMaxMessageWords,
                               [](capnp::MessageBuilder& message) {
                                 message.initRoot<schema::Request>().setScan();
                               }));
  EXPECT_LT(ring_->header()->write_cursor, 64u);
}

TEST_F(RingTest, MessagesOfEverySizePassEveryPositionOfTheRing) {
  std::mt19937 random(1);
  uint32_t written = 0;
  uint32_t read = 0;
  while (read < 20'000) {
    for (int burst = random() % 8; burst > 0; --burst) {
      const size_t padding = random() % (random() % 50 == 0 ? 32'000 : 600);
      const auto done = Write(written + 1, padding);
      if (!done) {
        ASSERT_EQ(done.error().code, Code::kResourceExhausted);
        break;
      }
      ++written;
    }
    for (int burst = random() % 8; burst > 0 && read < written; --burst) {
      const auto id = Read();
      ASSERT_TRUE(id && *id);
      ASSERT_EQ(**id, ++read);
    }
  }
  EXPECT_GT(ring_->header()->write_cursor, 10 * kRingBytes);
}

TEST_F(RingTest, TheLargestRecordFitsAnEmptyRingAtEveryPosition) {
  // An odd number of words moves the position through the whole ring.
  for (int round = 0; round < 3000; ++round) {
    const auto words = writer_.Reserve(RingGeometry::kMaxMessageWords);
    ASSERT_TRUE(words) << words.error().message;
    ASSERT_TRUE(std::all_of(words->asBytes().begin(), words->asBytes().end(),
                            [](kj::byte byte) { return byte == 0; }));
    memset(words->asBytes().begin(), 0xFF, words->asBytes().size());
    writer_.Commit(round % 2 == 0 ? RingGeometry::kMaxMessageWords : 2);
    ASSERT_TRUE(reader_.TryRead().value());
  }
}

TEST_F(RingTest, AFullRingIsExhaustedUntilItsReaderMadeRoom) {
  uint32_t written = 0;
  while (Write(written + 1)) ++written;
  EXPECT_EQ(Write(0).error().code, Code::kResourceExhausted);
  EXPECT_FALSE(writer_.HasRoom(32));
  ASSERT_GT(written, 100u);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(*Read());
  EXPECT_TRUE(writer_.HasRoom(32));
  EXPECT_TRUE(Write(written + 1));
}

TEST_F(RingTest, AMessageLargerThanReservedIsNotPublished) {
  const auto refused = writer_.TryWrite(4, [](capnp::MessageBuilder& message) {
    message.initRoot<schema::Request>().initOpen().setNameHint(
        std::string(1000, 'x'));
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInternal);
  EXPECT_FALSE(*Read());
  ASSERT_TRUE(Write(7));
  EXPECT_EQ(Read()->value(), 7u);
}

TEST_F(RingTest, ImpossibleReservationsAreInvalid) {
  EXPECT_EQ(writer_.Reserve(0).error().code, Code::kInvalidArgument);
  EXPECT_EQ(writer_.Reserve(RingGeometry::kMaxMessageWords + 1).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(writer_.Reserve(SIZE_MAX).error().code, Code::kInvalidArgument);
}

TEST_F(RingTest, ReadCursorsThatLieAreMisbehaviour) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Write(i));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(*Read());
  ASSERT_TRUE(Write(10));
  const uint64_t seen = reads_->header()->read_cursor;
  const uint64_t written = ring_->header()->write_cursor;
  for (const uint64_t lie : {uint64_t{0}, seen - 8, written + 8, seen + 4,
                             UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 63}) {
    reads_->header()->read_cursor = lie;
    const auto refused = Write(11);
    ASSERT_FALSE(refused) << lie;
    EXPECT_EQ(refused.error().code, Code::kBackendMisbehaved);
    EXPECT_TRUE(writer_.HasRoom(32)) << "a waiting writer must see the lie";
  }
  reads_->header()->read_cursor = seen;
  EXPECT_TRUE(Write(11));
}

TEST_F(RingTest, WriteCursorsThatLieAreMisbehaviour) {
  ASSERT_TRUE(Write(1));
  ASSERT_TRUE(Write(2));
  ASSERT_TRUE(*Read());
  const uint64_t written = ring_->header()->write_cursor;
  const uint64_t read = reads_->header()->read_cursor;
  for (const uint64_t lie :
       {uint64_t{0}, read - 8, read, written - 8, written + 4,
        read + kRingBytes + 8, UINT64_MAX, UINT64_MAX - 7}) {
    ring_->header()->write_cursor = lie;
    ExpectReadMisbehaved();
  }
  ring_->header()->write_cursor = written;
  EXPECT_EQ(Read()->value(), 2u);
}

TEST_F(RingTest, LengthsThatLieAreMisbehaviour) {
  for (const uint64_t lie :
       {uint64_t{0}, uint64_t{4}, uint64_t{7}, uint64_t{12}, uint64_t{16},
        uint64_t{RingGeometry::kMaxRecordBytes}, uint64_t{0xFFFFFFF8},
        uint64_t{0xFFFFFFFE}, uint64_t{1} << 32, (uint64_t{1} << 32) | 8,
        UINT64_MAX, UINT64_MAX - 7}) {
    PublishRaw({lie, 0}, 16);
    ExpectReadMisbehaved();
  }
}

TEST_F(RingTest, ARecordAboveTheLimitIsMisbehaviourThoughAllOfItIsThere) {
  PublishRaw({RingGeometry::kMaxRecordBytes}, kRingBytes);
  ExpectReadMisbehaved();
}

TEST_F(RingTest, ARecordNeverWraps) {
  while (reads_->header()->read_cursor < kRingBytes - 16) {
    const uint64_t at = reads_->header()->read_cursor;
    ring_->ring()[at / 8] = 8;
    ring_->header()->write_cursor = at + 16;
    ASSERT_TRUE(reader_.TryRead().value());
  }
  ring_->ring()[kRingBytes / 8 - 2] = 16;
  ring_->header()->write_cursor = kRingBytes + 1024;
  ExpectReadMisbehaved();
}

TEST_F(RingTest, SkipsThatLeadNowhereAreMisbehaviour) {
  // A skip at the start of the ring.
  PublishRaw({kSkip, 8, 0}, 24);
  ExpectReadMisbehaved();
  // A skip with nothing after it, and one with another skip after it.
  PublishRaw({8, 0, kSkip}, 24);
  ASSERT_TRUE(reader_.TryRead().value());
  ExpectReadMisbehaved();
  ring_->header()->write_cursor = kRingBytes;
  ExpectReadMisbehaved();
  ring_->ring()[0] = kSkip;
  ring_->header()->write_cursor = kRingBytes + 16;
  ExpectReadMisbehaved();
  // A skip with half a record after it.
  ring_->ring()[0] = 16;
  ExpectReadMisbehaved();
}

TEST_F(RingTest, MalformedMessagesAreMisbehaviourAndNotFatal) {
  // The root pointer points far outside the message. The next record is intact.
  PublishRaw({8, 0x000100017FFFFFF0, 8, 0}, 32);
  const auto refused = Read();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBackendMisbehaved);
  EXPECT_TRUE(Read());
}

TEST_F(RingTest, TheErrorForAMalformedMessageQuotesNothingUnprintable) {
  // The last byte of the text must be NUL.
  ASSERT_TRUE(Write(1, 7));
  ring_->ring()[ring_->header()->write_cursor / 8 - 1] |= uint64_t{0xFF} << 56;
  const auto refused = ReadCatching([&] {
    return (*reader_.TryRead().value())
        .root<schema::Request>()
        .getOpen()
        .getNameHint()
        .size();
  });
  ASSERT_FALSE(refused);
  for (const char c : refused.error().message) {
    EXPECT_TRUE(c >= 0x20 && c <= 0x7e) << refused.error().message;
  }
}

TEST_F(RingTest, AMessageStaysTheSameWhileItsProducerRewritesIt) {
  ASSERT_TRUE(Write(1, 100));
  const auto message = reader_.TryRead();
  ASSERT_TRUE(message && *message);
  memset(ring_->ring(), 0xFF, kRingBytes);
  const auto open = (*message)->root<schema::Request>().getOpen();
  EXPECT_EQ(open.getNameHint(), std::string(100, 'x'));
}

TEST_F(RingTest, ReadingWhileAThreadRewritesEverythingIsSafe) {
  std::atomic<bool> stop = false;
  std::thread hostile([&] {
    std::mt19937_64 random(2);
    const auto store = [](uint64_t* word, uint64_t value) {
      __atomic_store_n(word, value, __ATOMIC_RELAXED);
    };
    while (!stop) {
      // Most values are near the truth, so that reading gets past the first
      // check.
      const uint64_t read = reads_->header()->read_cursor;
      const auto word = [&](uint64_t ahead) {
        return ring_->ring() + (read + 8 * ahead) % kRingBytes / 8;
      };
      const bool lie = random() % 16 == 0;
      store(word(0), lie ? random() % 512 : 8 + random() % 8 * 8);
      store(word(1), lie ? random() : 0x0001000100000000);
      store(word(2 + random() % 8), random());
      if (random() % 64 == 0) {
        store(word(0), kSkip);
        store(ring_->ring(), 8);
      }
      ring_->header()->write_cursor =
          random() % 64 == 0 ? random() : read + 1024;
    }
  });
  int messages = 0;
  int lies = 0;
  int changed = 0;
  const Deadline deadline = Deadline::After(std::chrono::seconds(20));
  while ((messages < 2000 || lies < 200) && !deadline.passed()) {
    const auto same = ReadCatching([&]() -> Expected<bool> {
      const auto message = reader_.TryRead();
      if (!message) return tl::unexpected(message.error());
      if (!*message) return true;
      ++messages;
      const auto first = (*message)->root<schema::Request>();
      const auto text = first.toString().flatten();
      return text == (*message)->root<schema::Request>().toString().flatten();
    });
    if (same) {
      changed += *same ? 0 : 1;
    } else {
      EXPECT_EQ(same.error().code, Code::kBackendMisbehaved);
      ++lies;
    }
  }
  stop = true;
  hostile.join();
  for (const tests::TableRow row : {tests::Escape(61), tests::Fault(31)}) {
    tests::ExpectAtMost(row, "a thread rewrites what is read", 0, changed,
                        "messages that changed while they were read");
  }
  EXPECT_GE(messages, 2000);
  EXPECT_GE(lies, 200);
}

TEST_F(RingTest, TwoThreadsPassEveryMessageOnce) {
  constexpr uint32_t kMessages = 50'000;
  std::thread producer([&] {
    for (uint32_t id = 1; id <= kMessages; ++id) {
      for (;;) {
        const auto done = Write(id, id % 300);
        if (done) break;
        ASSERT_EQ(done.error().code, Code::kResourceExhausted);
        std::this_thread::yield();
      }
    }
  });
  for (uint32_t id = 1; id <= kMessages;) {
    const auto read = Read();
    ASSERT_TRUE(read) << read.error().message;
    if (!*read) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(**read, id);
    ++id;
  }
  producer.join();
}

}  // namespace
}  // namespace bulkhead::ipc
