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

// Words that hold any reply without text or data.
inline constexpr size_t kSmallReplyWords = 64;

// What a session worker says to its host: one message a record of the reply
// ring. Waits for room; fails when the host is gone. One thread.
class HostReplies {
 public:
  // All are borrowed. `host` is the host's half of the ring's state, and
  // `wake_host` the eventfd that it sleeps on.
  HostReplies(ipc::RingWriter& writer, ipc::Waiter& waiter,
              const ipc::RegionHeader* host, int wake_host)
      : writer_(writer), waiter_(waiter), host_(host), wake_host_(wake_host) {}

  // `fill` makes a message of at most `max_words`.
  ipc::Expected<void> Send(
      size_t max_words,
      const std::function<void(ipc::schema::Reply::Builder)>& fill);
  // `epoch` is that of the play that failed, 0 for another request.
  ipc::Expected<void> SendFailed(uint32_t epoch, const ipc::Error& error);

 private:
  ipc::RingWriter& writer_;
  ipc::Waiter& waiter_;
  const ipc::RegionHeader* const host_;
  const int wake_host_;
};

}  // namespace bulkhead::worker
