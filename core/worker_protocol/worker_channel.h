// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker_protocol {

// The number of words that any request without text fits into.
inline constexpr size_t kSmallRequestWords = 64;

// The host's end of the memory that it shares with one worker: the ring of
// requests and the ring of replies, with the words by which each side wakes the
// other. Sessions in the application and health checks in bulkheadd speak to
// their workers through it. Nothing here waits: a session blocks in an
// ipc::Waiter, a health check returns to its event loop, and both then come
// back for the reply. Only an event loop needs a descriptor for that.
//
//     ASSIGN_OR_RETURN(auto channel, WorkerChannel::Create(Host::kThread));
//     SendAttach(channel->descriptors(media_fd), MediaAccess::kDirect, send);
//     channel->CloseDescriptors();
//     channel->Request(kSmallRequestWords, [](auto r) { r.setScan(); });
//     ... wait until TryRead() returns true ...
//     channel->Take([](Reply::Reader reply_untrusted) { ... });
//
// Trust: the worker is hostile. It can write any bytes into the ring of replies
// at any time; a reply is copied into private memory before anything reads it,
// and a copy that is malformed is an error. The worker cannot write the ring of
// requests.
//
// Failure: an ipc::Error, and a Status of Request() and Grant(), means that the
// worker broke the protocol; the message is a clause ("it ...") for the caller
// to complete. The caller then ends the worker and stops using the channel.
//
// Owned by the session or the health check. Not thread-safe.
class WorkerChannel {
 public:
  using FillRequest = std::function<void(ipc::schema::Request::Builder)>;
  using TakeReply = std::function<Status(ipc::schema::Reply::Reader)>;
  // Sends a message with descriptors over the socket of the worker.
  using SendMessage =
      std::function<Status(capnp::MessageBuilder&, std::span<const int>)>;
  enum class MediaAccess {
    kDirect,  // the descriptor is the media
    kServed,  // the descriptor is a ServedMedia, which the host fills
  };

  enum class Host {
    kThread,     // sleeps in an ipc::Waiter
    kEventLoop,  // watches wake_fd()
  };

  // Errors come from creating memory and descriptors.
  static Result<std::unique_ptr<WorkerChannel>> Create(Host host);
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;

  // Return the descriptors that SendAttach() sends: of the rings, of the
  // window, of the media, and wake_fd() if there is one. A worker can map the
  // first three only (ipc/descriptors.h), so that it cannot map the media. In
  // the place of a window that is not there is a ring, and in the media's place
  // of a served session the window.
  std::vector<int> descriptors(int media_fd) const;
  std::vector<int> served_descriptors(int window_fd) const;
  // Sends a worker its rings and its media. Returns what `send` returns.
  static Status SendAttach(std::span<const int> descriptors, MediaAccess access,
                           const SendMessage& send);
  // Closes the descriptors of the rings, which were sent and stay mapped.
  void CloseDescriptors();
  // Sends a worker a pool of this shape, whose descriptor is `pool_fd`; the
  // request attachPool must follow. Returns what `send` returns.
  static Status SendPool(uint32_t slot_count, uint64_t slot_bytes, int pool_fd,
                         const SendMessage& send);
  // Says to the worker that the session is over. A worker that serves this
  // session alone ends. No request may follow.
  void Close();

  // Writes one request of at most `max_words` and wakes the worker. Fails when
  // the ring is full: the host never has so many requests in flight that a
  // worker which reads them could leave the ring full.
  Status Request(size_t max_words, const FillRequest& fill);
  // Grants the worker every free slot of `pool`. A worker that sleeps has
  // filled all slots that it had before. It is woken once half of its slots are
  // to be filled, so that whoever takes one ready frame after the other makes
  // few system calls. Call Wake() before waiting for a reply.
  Status Grant(FramePool& pool);
  // Returns the number of grants so far.
  uint32_t grants() const { return grants_; }

  // Copies the next reply out of the ring. Returns false if there is none yet.
  ipc::Expected<bool> TryRead();
  // Hands the reply that TryRead() copied to `take`, which validates it, and
  // returns what `take` returns. The error is for a malformed reply.
  ipc::Expected<Status> Take(const TakeReply& take);

  // Wakes the worker if it sleeps, for grants and after memory that it waits
  // for was filled.
  void Wake();
  // The header in which the host publishes what it sleeps for.
  ipc::RegionHeader* header() const {
    return ipc::HeaderOf(requests_.writable_bytes());
  }
  // The header that the worker writes.
  const ipc::RegionHeader* worker_header() const {
    return ipc::HeaderOf(replies_.bytes());
  }
  // Becomes readable for every reply, for an event loop; -1 for a thread.
  int wake_fd() const { return wake_host_.get(); }
  // Makes wake_fd() unreadable again. Call it before TryRead(): a reply that
  // comes later makes wake_fd() readable again, so that none is missed.
  void ClearWake();

 private:
  WorkerChannel(ipc::OwnedRegion requests, ipc::OwnedRegion replies,
                ipc::UniqueFd wake_host);
  std::vector<int> Descriptors(int window_fd, int media_fd) const;
  Status Write(size_t max_words, const FillRequest& fill);

  ipc::OwnedRegion requests_;      // written by the host alone
  ipc::OwnedRegion replies_;       // written by the worker
  const ipc::UniqueFd wake_host_;  // for an event loop
  ipc::RingWriter writer_;
  ipc::RingReader reader_;
  uint32_t grants_ = 0;
  size_t grants_since_wake_ = 0;
  std::optional<ipc::CopiedMessage> reply_;  // copied, not yet taken
};

}  // namespace bulkhead::worker_protocol
