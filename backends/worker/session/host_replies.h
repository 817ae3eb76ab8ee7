// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "ipc/damage_sign.h"
#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/waiter.h"

namespace bulkhead::worker::session {

// The size of a message that holds any reply without text or data, in 8-byte
// words.
inline constexpr size_t kSmallReplyWords = 64;

// The most bytes that a reply has for a backend's sentence about damage, and
// their number in 8-byte words. Senders cut longer sentences.
inline constexpr size_t kMostComplaintBytes = 480;
inline constexpr size_t kComplaintWords =
    kMostComplaintBytes / sizeof(uint64_t) + 1;

// Returns the schema's value for a sign of damage.
inline ipc::schema::Sign SignOf(ipc::DamageSign sign) {
  static_assert(static_cast<int>(ipc::schema::Sign::GAP) ==
                static_cast<int>(ipc::DamageSign::kGap));
  return static_cast<ipc::schema::Sign>(sign);
}

// Sends the replies of a session worker to its host. Each reply is one Cap'n
// Proto message in one record of the reply ring. A send waits until the ring
// has room, and fails when the host is gone. Used by one thread at a time: the
// session's thread, or the thread that publishes a picture for the session
// (PicturePublisher).
class HostReplies {
 public:
  // Borrows all arguments. `own` and `host` are the headers of the regions that
  // the worker and the host write to. `wake_host` is the eventfd of a host with
  // an event loop, or -1 if the host sleeps on a futex in the header.
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
  // Sends a failure. `epoch` is the number of the play that failed (stream.h),
  // or 0 if another request failed.
  ipc::Expected<void> SendFailed(uint32_t epoch, const ipc::Error& error);
  // Counts, in shared memory, one more frame that was decoded and will be sent.
  // If this process dies before the reply, the host still learns of the frame.
  // Does not wake the host.
  void CountDecoded() { own_->decoded.fetch_add(1); }

 private:
  ipc::RingWriter& writer_;
  ipc::Waiter& waiter_;
  ipc::RegionHeader* const own_;
  const ipc::RegionHeader* const host_;
  const int wake_host_;
};

}  // namespace bulkhead::worker::session
