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

// A number of words in which any request without text fits.
inline constexpr size_t kSmallRequestWords = 64;

// The host's end of the memory that it shares with one worker: the ring of
// requests, the ring of replies, and the words by which each side wakes the
// other. Sessions in the application and health checks in bulkheadd talk to
// their workers through it.
//
// The functions never wait. A session sleeps in an ipc::Waiter until there may
// be a reply. A health check returns to its event loop, which calls it again
// when wake_fd() is readable.
//
//     ASSIGN_OR_RETURN(auto channel, WorkerChannel::Create(Host::kThread));
//     SendAttach(channel->descriptors(media_fd), MediaAccess::kDirect, send);
//     channel->CloseDescriptors();
//     channel->Request(kSmallRequestWords, [](auto r) { r.setScan(); });
//     ... wait until TryRead() returns true ...
//     channel->Take([](Reply::Reader reply_untrusted) { ... });
//
// Trust: the worker is hostile. It can write any bytes into the ring of replies
// at any time. So a reply is copied into private memory before anything reads
// it, and a malformed copy is an error. The worker cannot write into the ring
// of requests.
//
// Failure: an ipc::Error, or an error of Request() or Grant(), means that the
// worker broke the protocol. The message is a clause whose subject is the
// worker ("it ..."); the caller completes it, ends the worker and stops using
// the channel.
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

  // How the host waits for replies.
  enum class Host {
    kThread,     // sleeps in an ipc::Waiter
    kEventLoop,  // watches wake_fd()
  };

  // Fails only if memory or a descriptor cannot be created.
  static Result<std::unique_ptr<WorkerChannel>> Create(Host host);
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;

  // Return the descriptors for SendAttach(): two rings, a window of
  // ServedMedia, the media, and wake_fd() if there is one. A worker can map
  // only the first three (ipc/descriptors.h), so it cannot map the media. Since
  // only one of window and media exists, descriptors() repeats a ring in place
  // of the window, and served_descriptors() repeats the window in place of the
  // media.
  std::vector<int> descriptors(int media_fd) const;
  std::vector<int> served_descriptors(int window_fd) const;
  // Sends a worker its rings and its media. Returns the result of `send`.
  static Status SendAttach(std::span<const int> descriptors, MediaAccess access,
                           const SendMessage& send);
  // Closes the descriptors of the rings after they were sent. The rings stay
  // mapped.
  void CloseDescriptors();
  // Sends a worker a pool with these slots, whose descriptor is `pool_fd`. The
  // request attachPool must follow. Returns the result of `send`.
  static Status SendPool(uint32_t slot_count, uint64_t slot_bytes, int pool_fd,
                         const SendMessage& send);
  // Marks the session as over and wakes the worker. A worker that serves only
  // this session ends. No request may follow.
  void Close();

  // Writes one request of at most `max_words` and wakes the worker. Fails if
  // the ring is full: the host never has so many requests in flight that the
  // ring of an honest worker could be full.
  Status Request(size_t max_words, const FillRequest& fill);
  // Grants the worker every free slot of `pool`. Wakes the worker only if it
  // was not yet woken for half or more of the slots that it has. So a caller
  // that takes one ready frame after the other makes few system calls. A worker
  // sleeps only when it has filled all slots. Call Wake() before waiting for a
  // reply.
  Status Grant(FramePool& pool);
  // Returns the number of grants so far.
  uint32_t grants() const { return grants_; }

  // Copies the next reply out of the ring. Returns false if there is no reply
  // yet.
  ipc::Expected<bool> TryRead();
  // Passes the reply that TryRead() has copied to `take`, which validates it,
  // and returns the result of `take`. Returns an ipc::Error for a malformed
  // reply.
  ipc::Expected<Status> Take(const TakeReply& take);

  // Wakes the worker if it sleeps. Needed after grants, and after a window of
  // media was filled.
  void Wake();
  // Returns the header that the host writes. It shows for which event the host
  // sleeps (WakeReason).
  ipc::RegionHeader* header() const {
    return ipc::HeaderOf(requests_.writable_bytes());
  }
  // Returns the header that the worker writes.
  const ipc::RegionHeader* worker_header() const {
    return ipc::HeaderOf(replies_.bytes());
  }
  // Returns a descriptor for an event loop, which becomes readable for every
  // reply; -1 for a thread.
  int wake_fd() const { return wake_host_.get(); }
  // Makes wake_fd() unreadable again. Call this before TryRead(): any later
  // reply makes wake_fd() readable again, so no reply is missed.
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
  size_t grants_since_wake_ = 0;  // grants that the worker was not woken for
  std::optional<ipc::CopiedMessage> reply_;  // copied, not yet taken
};

}  // namespace bulkhead::worker_protocol
