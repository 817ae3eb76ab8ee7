// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/waiter.h"

namespace bulkhead::worker {

// The number of words that any reply without text or data fits into.
inline constexpr size_t kSmallReplyWords = 64;

// The number of bytes, and of words, that a reply has for a backend's sentence
// about damage. The host drops the rest of the sentence.
inline constexpr size_t kMostComplaintBytes = 480;
inline constexpr size_t kComplaintWords =
    kMostComplaintBytes / sizeof(uint64_t) + 1;

// Sends the replies of a session worker to its host. Each reply is one Cap'n
// Proto message in one record of the reply ring. A send waits until the ring
// has room, and fails when the host is gone. Used by one thread at a time: the
// session's, or the one that publishes a picture for it (VideoStream).
class HostReplies {
 public:
  // Borrows all arguments. `own` and `host` are the headers of the two sides.
  // `wake_host` is the eventfd that a host with an event loop watches, and -1
  // for a host that sleeps on the header.
  HostReplies(ipc::RingWriter& writer, ipc::Waiter& waiter,
              ipc::RegionHeader* own, const ipc::RegionHeader* host,
              int wake_host)
      : writer_(writer),
        waiter_(waiter),
        own_(own),
        host_(host),
        wake_host_(wake_host) {}

  // Sends one message, which `fill` builds in at most `max_words` words.
  ipc::Expected<void> Send(
      size_t max_words,
      const std::function<void(ipc::schema::Reply::Builder)>& fill);
  // Sends a failure. `epoch` identifies the play that failed, and is 0 when
  // another request failed.
  ipc::Expected<void> SendFailed(uint32_t epoch, const ipc::Error& error);
  // Shows the host, should this process die, that one more frame was decoded
  // and is about to be sent. Wakes nobody.
  void CountDecoded() { own_->decoded.fetch_add(1); }

 private:
  ipc::RingWriter& writer_;
  ipc::Waiter& waiter_;
  ipc::RegionHeader* const own_;
  const ipc::RegionHeader* const host_;
  const int wake_host_;
};

}  // namespace bulkhead::worker
