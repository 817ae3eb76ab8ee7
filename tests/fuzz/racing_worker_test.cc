// SPDX-License-Identifier: Apache-2.0
//
// A thread in the place of a worker rewrites all memory that a worker shares
// with a host, word by word, while the host's own code reads it: the ring of
// replies with its header, and the slots of the frames. Nothing that the host
// accepts may be out of bounds. Sanitizers find what the checks miss.

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/worker_protocol/worker_channel.h"
#include "ipc/deadline.h"
#include "ipc/region_header.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "tests/fuzz/reply_check.h"

namespace bulkhead::fuzz {
namespace {

namespace schema = ipc::schema;
using ipc::RingGeometry;
using worker_protocol::WorkerChannel;

constexpr uint64_t kWanted = 300;

std::vector<uint64_t> Words(capnp::MessageBuilder& message) {
  const auto bytes = message.getSegmentsForOutput()[0].asBytes();
  std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
  std::memcpy(words.data(), bytes.begin(), bytes.size());
  return words;
}

std::vector<uint64_t> Opened() {
  capnp::MallocMessageBuilder message;
  auto opened = message.initRoot<schema::Reply>().initOpened();
  opened.setStreamCount(1);
  opened.setThreads(1);
  opened.setPixelFormat("yuv420p");
  opened.setWidth(16);
  opened.setHeight(8);
  opened.setUprightWidth(16);
  opened.setUprightHeight(8);
  opened.initTimeBase().setNumerator(1);
  opened.getTimeBase().setDenominator(1000);
  return Words(message);
}

std::vector<uint64_t> Frame(uint32_t slot, uint32_t generation,
                            uint32_t stride) {
  capnp::MallocMessageBuilder message;
  auto frame = message.initRoot<schema::Reply>().initFrame();
  frame.setSlot(slot);
  frame.setGeneration(generation);
  frame.setWidth(16);
  frame.setHeight(8);
  frame.setStride(stride);
  return Words(message);
}

std::vector<uint64_t> OpenedAudio() {
  capnp::MallocMessageBuilder message;
  auto opened = message.initRoot<schema::Reply>().initOpenedAudio();
  opened.setStreamCount(1);
  opened.setSampleRate(48000);
  opened.setChannelCount(2);
  opened.setPublishedRate(48000);
  opened.setPublishedChannels(2);
  opened.initTimeBase().setNumerator(1);
  opened.getTimeBase().setDenominator(48000);
  return Words(message);
}

std::vector<uint64_t> Samples(uint32_t slot, uint32_t generation) {
  capnp::MallocMessageBuilder message;
  auto samples = message.initRoot<schema::Reply>().initSamples();
  samples.setSlot(slot);
  samples.setGeneration(generation);
  samples.setCount(512);
  return Words(message);
}

// Words of memory that another thread reads. The mapping is the worker's own,
// as in a process of its own, so no address has two writers or a reader.
class SharedWords {
 public:
  SharedWords(int fd, size_t bytes)
      : region_(ipc::MappedRegion::Map(fd, /*writable=*/true, bytes).value()) {}

  size_t size() const { return region_.bytes().size() / sizeof(uint64_t); }
  void Store(size_t index, uint64_t value) const {
    __atomic_store_n(
        reinterpret_cast<uint64_t*>(region_.writable_bytes().data()) + index,
        value, __ATOMIC_RELAXED);
  }
  ipc::RegionHeader* header() const {
    return ipc::HeaderOf(region_.writable_bytes());
  }

 private:
  ipc::MappedRegion region_;
};

// Rewrites the memory of one channel and its pool until it is destroyed. Most
// of what it writes is near the truth, so that the host gets far.
class RacingWorker {
 public:
  RacingWorker(int replies_fd, std::vector<std::vector<uint64_t>> replies,
               uint64_t seed)
      : ring_(replies_fd, RingGeometry::kReplyRegionBytes),
        replies_(std::move(replies)),
        random_(seed) {
    thread_ = std::thread([this] {
      while (!stop_) Rewrite();
    });
  }
  ~RacingWorker() {
    stop_ = true;
    thread_.join();
  }

  // Rewrites these slots too. Kept until the end.
  void AddSlots(int fd, size_t bytes) {
    auto* const slots = new SharedWords(fd, bytes);
    all_slots_.emplace_back(slots);
    slots_.store(slots);
  }
  // Says how far the host has read, which a worker sees as well.
  void Read(uint64_t cursor) { read_.store(cursor); }

 private:
  void Rewrite() {
    if (read_.load() >= written_) Publish();
    // The host may be in the middle of the record now.
    for (int i = 0; i < 4; ++i) {
      const size_t at = random_() % reply_->size();
      const uint64_t flipped =
          (*reply_)[at] ^ (uint64_t{1} << (random_() % 64));
      ring_.Store(Place(1 + at), random_() % 4 == 0 ? flipped : (*reply_)[at]);
    }
    switch (random_() % 4096) {
      case 0:
        ring_.Store(Place(0), random_());
        break;
      case 1:
        ring_.header()->write_cursor.store(random_());
        break;
      case 2:
        ring_.Store(Place(0), 0xFFFFFFFF);
        break;
    }
    if (const SharedWords* const slots = slots_.load()) {
      for (int i = 0; i < 16; ++i) {
        slots->Store(random_() % slots->size(), random_());
      }
    }
    std::this_thread::yield();
  }

  // Publishes another reply, after what the host has read.
  void Publish() {
    reply_ = &replies_[random_() % replies_.size()];
    begin_ = written_;
    ring_.Store(Place(0), 8 * reply_->size());
    for (size_t i = 0; i < reply_->size(); ++i) {
      ring_.Store(Place(1 + i), (*reply_)[i]);
    }
    written_ += 8 + 8 * reply_->size();
    ring_.header()->write_cursor.store(written_);
  }
  // Returns the index of a word of the record that was published last.
  size_t Place(uint64_t word) const {
    return RingGeometry::kRingOffset / 8 +
           (begin_ / 8 + word) % (RingGeometry::kReplyRingBytes / 8);
  }

  const SharedWords ring_;
  const std::vector<std::vector<uint64_t>> replies_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SharedWords>> all_slots_;
  std::atomic<const SharedWords*> slots_ = nullptr;
  std::atomic<uint64_t> read_ = 0;
  const std::vector<uint64_t>* reply_ = nullptr;  // published last
  uint64_t begin_ = 0;                            // where it begins
  uint64_t written_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Reads with the code of a host until it has accepted `kWanted` frames and
// refused some, with a new worker after each lie about the ring itself.
void ExpectNothingBadIsAccepted(
    const ReplyCheck::Asked& asked,
    const std::vector<std::vector<uint64_t>>& replies) {
  uint64_t published = 0;
  uint64_t refused = 0;
  uint64_t malformed = 0;
  uint64_t lies_about_the_ring = 0;
  const auto deadline = ipc::Deadline::After(std::chrono::seconds(60));
  for (uint64_t seed = 1; (published < kWanted || refused < 100 ||
                           malformed < 1 || lies_about_the_ring < 1) &&
                          !deadline.passed();
       ++seed) {
    auto channel = WorkerChannel::Create(WorkerChannel::Host::kThread).value();
    RacingWorker worker(channel->descriptors(-1)[1], replies, seed);
    ReplyCheck check(asked);
    const worker_protocol::FramePool* pool = nullptr;
    for (;;) {
      const auto read = channel->TryRead();
      worker.Read(channel->header()->read_cursor.load());
      if (!read) {
        EXPECT_EQ(read.error().code, ipc::Code::kBackendMisbehaved);
        ++lies_about_the_ring;
        break;
      }
      if (deadline.passed()) break;
      if (!*read) {
        std::this_thread::yield();
        continue;
      }
      const auto taken =
          channel->Take([&](schema::Reply::Reader reply_untrusted) {
            if (!check.Take(reply_untrusted)) ++refused;
            return Status();
          });
      if (!taken) {
        EXPECT_EQ(taken.error().code, ipc::Code::kBackendMisbehaved);
        ++malformed;
      }
      if (check.pool() && check.pool().get() != pool) {
        pool = check.pool().get();
        worker.AddSlots(pool->fd(), pool->slot_count() * pool->slot_bytes());
      }
    }
    published += check.published();
  }
  EXPECT_GE(published, kWanted);
  EXPECT_GE(refused, 100u);
  EXPECT_GE(malformed, 1u);
  EXPECT_GE(lies_about_the_ring, 1u);
}

TEST(RacingWorkerTest, FramesStayInBounds) {
  ExpectNothingBadIsAccepted(
      {.maps_privately = true},
      {Opened(), Frame(0, 1, 64), Frame(1, 1, 64), Frame(2, 1, 48)});
}

TEST(RacingWorkerTest, FramesOfTheirOwnSizesStayInBounds) {
  ExpectNothingBadIsAccepted(
      {.autoscale = false},
      {Opened(), Frame(0, 1, 64), Frame(1, 1, 64), Frame(0, 2, 64)});
}

TEST(RacingWorkerTest, NativeFramesStayInBounds) {
  ExpectNothingBadIsAccepted(
      {.native = true},
      {Opened(), Frame(0, 1, 128), Frame(1, 1, 128), Frame(2, 1, 128)});
}

TEST(RacingWorkerTest, SamplesStayInBounds) {
  ExpectNothingBadIsAccepted(
      {}, {OpenedAudio(), Samples(0, 1), Samples(1, 1), Samples(2, 1)});
}

}  // namespace
}  // namespace bulkhead::fuzz
