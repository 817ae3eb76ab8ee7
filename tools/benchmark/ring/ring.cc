// SPDX-License-Identifier: Apache-2.0
#include "ipc/ring.h"

#include <capnp/message.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/region_header.h"
#include "ipc/robust_word.h"
#include "ipc/waiter.h"
#include "tools/benchmark/ring/mechanism.h"
#include "tools/benchmark/ring/note.h"
#include "tools/benchmark/ring/shared_memory.h"

namespace bulkhead::benchmark {
namespace {

using ipc::RingGeometry;

constexpr std::chrono::seconds kPatience(10);

// One side's view of the two rings.
class End {
 public:
  // `own` is the region that this side writes, `peer` the region that the other
  // side writes. `end_of_peer` is the word that says that the other side ended.
  End(std::span<std::byte> own, std::span<std::byte> peer,
      ipc::WatchedWord end_of_peer)
      : own_header_(ipc::HeaderOf(own)),
        peer_header_(ipc::HeaderOf(peer)),
        writer_(own, peer_header_, RingGeometry::kRequestRingBytes),
        reader_(peer, own_header_, RingGeometry::kRequestRingBytes),
        waiter_(own_header_, peer_header_, {end_of_peer}) {}

  bool Send(uint64_t sequence) {
    const auto written =
        writer_.TryWrite(kNoteWords, [&](capnp::MessageBuilder& message) {
          FillNote(message.initRoot<Note>(), sequence);
        });
    ipc::WakePeer(own_header_, peer_header_);
    return written.has_value();
  }

  // Returns whether the next message is the one with `sequence`.
  bool Receive(uint64_t sequence) {
    ipc::Expected<std::optional<ipc::CopiedMessage>> message;
    const ipc::Wake wake = waiter_.Await(
        [&] {
          message = reader_.TryRead();
          return !message || *message;
        },
        ipc::Deadline::After(kPatience));
    if (wake != ipc::Wake::kReady || !message) return false;
    const ipc::Expected<bool> right = ipc::ReadCatching(
        [&] { return CheckNote((*message)->root<Note>(), sequence); });
    return right.value_or(false);
  }

 private:
  ipc::RegionHeader* own_header_;
  const ipc::RegionHeader* peer_header_;
  ipc::RingWriter writer_;
  ipc::RingReader reader_;
  ipc::Waiter waiter_;
};

class Ring : public Mechanism {
 public:
  // Both sides watch the same kinds of words as in a session. The child, like a
  // worker, watches the word with which its host closes the session. The parent
  // watches a robust word, which the kernel marks when the child ends. In a
  // session that word belongs to bulkheadd; here an unused word of the region
  // takes its place.
  void PrepareToServe() override {
    ipc::RegionHeader* const own = ipc::HeaderOf(answers_.bytes());
    if (!ipc::RobustWord::Own(&own->decoded)) abort();
    end_.emplace(
        answers_.bytes(), requests_.bytes(),
        ipc::WatchedWord{.word = &ipc::HeaderOf(requests_.bytes())->closed,
                         .scope = ipc::WatchedWord::Scope::kWithPeer});
  }
  void Serve() override {
    for (uint64_t next = 1;; ++next) {
      if (!end_->Receive(next) || !end_->Send(next)) _exit(1);
    }
  }
  void PrepareToCall(int /*child*/) override {
    end_.emplace(
        requests_.bytes(), answers_.bytes(),
        ipc::WatchedWord::Robust(&ipc::HeaderOf(answers_.bytes())->decoded));
  }
  bool RoundTrip() override {
    return end_->Send(++sent_) && end_->Receive(sent_);
  }

 private:
  SharedMemory requests_{RingGeometry::kRequestRegionBytes};
  SharedMemory answers_{RingGeometry::kRequestRegionBytes};
  std::optional<End> end_;
  uint64_t sent_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> MakeRing() { return std::make_unique<Ring>(); }

}  // namespace bulkhead::benchmark
