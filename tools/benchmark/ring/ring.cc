// SPDX-License-Identifier: Apache-2.0
#include "ipc/ring.h"

#include <capnp/message.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/region_header.h"
#include "ipc/unique_fd.h"
#include "ipc/waiter.h"
#include "tools/benchmark/ring/mechanism.h"
#include "tools/benchmark/ring/note.h"
#include "tools/benchmark/ring/shared_memory.h"

namespace bulkhead::benchmark {
namespace {

using ipc::RingGeometry;

constexpr std::chrono::seconds kPatience(10);

// One side of the two rings.
class End {
 public:
  // `own` and `peer` are the regions that the sides write; a side sleeps on the
  // eventfd that wakes it.
  End(std::span<std::byte> own, std::span<std::byte> peer, int own_eventfd,
      int peer_eventfd, int peer_death_fd)
      : peer_header_(ipc::HeaderOf(peer)),
        peer_eventfd_(peer_eventfd),
        writer_(own, peer_header_, RingGeometry::kRequestRingBytes),
        reader_(peer, ipc::HeaderOf(own), RingGeometry::kRequestRingBytes),
        waiter_(ipc::HeaderOf(own), own_eventfd, peer_death_fd) {}

  bool Send(uint64_t sequence) {
    const auto written =
        writer_.TryWrite(kNoteWords, [&](capnp::MessageBuilder& message) {
          FillNote(message.initRoot<Note>(), sequence);
        });
    ipc::WakePeer(peer_header_, peer_eventfd_);
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
  const ipc::RegionHeader* peer_header_;
  int peer_eventfd_;
  ipc::RingWriter writer_;
  ipc::RingReader reader_;
  ipc::Waiter waiter_;
};

class Ring : public Mechanism {
 public:
  Ring() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      abort();
    }
    parent_socket_ = ipc::UniqueFd(ends[0]);
    child_socket_ = ipc::UniqueFd(ends[1]);
    parent_eventfd_ = ipc::MakeEventFd().value();
    child_eventfd_ = ipc::MakeEventFd().value();
  }

  // Like a worker, the child learns by a socket that the other side is gone.
  void PrepareToServe() override {
    parent_socket_.reset();
    end_.emplace(answers_.bytes(), requests_.bytes(), child_eventfd_.get(),
                 parent_eventfd_.get(), child_socket_.get());
  }
  void Serve() override {
    for (uint64_t next = 1;; ++next) {
      if (!end_->Receive(next) || !end_->Send(next)) _exit(1);
    }
  }
  void PrepareToCall(int child) override {
    child_ = ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    end_.emplace(requests_.bytes(), answers_.bytes(), parent_eventfd_.get(),
                 child_eventfd_.get(), child_.get());
  }
  bool RoundTrip() override {
    return end_->Send(++sent_) && end_->Receive(sent_);
  }

 private:
  SharedMemory requests_{RingGeometry::kRequestRegionBytes};
  SharedMemory answers_{RingGeometry::kRequestRegionBytes};
  ipc::UniqueFd parent_socket_;
  ipc::UniqueFd child_socket_;
  ipc::UniqueFd parent_eventfd_;
  ipc::UniqueFd child_eventfd_;
  ipc::UniqueFd child_;
  std::optional<End> end_;
  uint64_t sent_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> MakeRing() { return std::make_unique<Ring>(); }

}  // namespace bulkhead::benchmark
