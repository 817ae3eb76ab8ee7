// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::worker::session {

// Reads media that has no descriptor, because only the application can read it.
// The host copies a part of the media into the window, which is shared memory.
// A read at an offset outside of that part asks the host for another part and
// waits. The wait has no deadline, since the host itself enforces the deadlines
// of a session. The read fails with EIO if the host is gone. Used by the
// session's thread only.
class ServedBytes : public demux::ByteServer {
 public:
  // Borrows `replies` and `waiter`; owns `window`.
  ServedBytes(HostReplies& replies, ipc::Waiter& waiter,
              ipc::MappedRegion window)
      : replies_(replies), waiter_(waiter), window_(std::move(window)) {}

  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) override;

 private:
  HostReplies& replies_;
  ipc::Waiter& waiter_;
  const ipc::MappedRegion window_;
  uint32_t serial_ = 0;  // the number of the latest request for another part
  // The part of the media that the window holds: offset and length in bytes.
  int64_t start_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace bulkhead::worker::session
