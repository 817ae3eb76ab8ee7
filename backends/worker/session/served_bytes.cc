// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/served_bytes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "ipc/media_window_layout.h"

namespace bulkhead::worker::session {
namespace {

// Only bounds a single wait; the worker then waits again.
constexpr std::chrono::hours kLookAgain{1};

}  // namespace

ssize_t ServedBytes::ReadAt(int64_t offset, std::span<uint8_t> out) {
  const auto* const header = ipc::WindowHeaderOf(window_.bytes());
  if (offset < start_ || offset >= start_ + bytes_) {
    // The host will overwrite the window, so the old bytes are no longer valid,
    // even if the request fails. The new serial number distinguishes the answer
    // from the answers to earlier requests.
    const uint32_t serial = ++serial_;
    bytes_ = 0;
    auto sent =
        replies_.Send(kSmallReplyWords, [&](ipc::schema::Reply::Builder reply) {
          auto read = reply.initRead();
          read.setOffset(static_cast<uint64_t>(offset));
          read.setSerial(serial);
        });
    if (!sent) return -EIO;
    ipc::Wake wake;
    do {
      wake = waiter_.Await([&] { return header->served.load() == serial; },
                           ipc::Deadline::After(kLookAgain));
    } while (wake == ipc::Wake::kDeadline);
    if (wake == ipc::Wake::kPeerGone) return -EIO;
    start_ = offset;
    bytes_ = static_cast<int64_t>(header->bytes.load());
  }
  const auto left = static_cast<size_t>(start_ + bytes_ - offset);
  const size_t count = std::min(out.size(), left);
  std::memcpy(
      out.data(),
      window_.bytes().data() + ipc::kWindowDataOffset + (offset - start_),
      count);
  return static_cast<ssize_t>(count);
}

}  // namespace bulkhead::worker::session
