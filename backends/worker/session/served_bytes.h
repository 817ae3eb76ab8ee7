// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "backends/worker/media/media_bytes.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::worker {

// Media that only the host can read: asks it for a window full at a time, and
// waits. The host may be busy with something else for as long as it likes, or
// gone. One thread, that of the session.
class ServedBytes : public ByteServer {
 public:
  // All are borrowed, but for the window.
  ServedBytes(HostReplies& replies, ipc::Waiter& waiter,
              ipc::MappedRegion window)
      : replies_(replies), waiter_(waiter), window_(std::move(window)) {}

  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) override;

 private:
  HostReplies& replies_;
  ipc::Waiter& waiter_;
  const ipc::MappedRegion window_;
  uint32_t serial_ = 0;
  // What is in the window.
  int64_t start_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace bulkhead::worker
