// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/include/bulkhead/source.h"
#include "core/include/bulkhead/status.h"
#include "ipc/shared_region.h"

namespace bulkhead::worker_protocol {

// Serves media to one worker if the media has no descriptor, because a reader
// of the application has it (SourceReader). The worker asks for an offset. The
// thread of the host that waits for this worker then fills a window of shared
// memory (ipc/media_window_layout.h).
//
// Trust: the worker may ask for any offset at any time, but can only read the
// window, which holds nothing but media. So a hostile worker can only make the
// reader work, and the number of requests is bounded. The reader belongs to the
// application. If it fails, that is an error of the call and not the worker's
// fault.
//
// Owned by the WorkerLink. Not thread-safe.
class ServedMedia {
 public:
  // `reader` must outlive the ServedMedia. `cancelled` is called after each
  // read, and returns true if the application's call is to end; it may be
  // empty.
  static Result<ServedMedia> Create(const SourceReader& reader,
                                    std::function<bool()> cancelled = {});

  // Returns the window's descriptor, to send to the worker; -1 after
  // CloseDescriptor().
  int fd() const { return region_.fd(); }
  void CloseDescriptor() { region_.CloseDescriptor(); }

  // Fills the window with media from `offset_untrusted` on, up to the end of
  // the media, and marks the window as filled; the caller then wakes the
  // worker. Returns kBackendMisbehaved if the serial number is not the next
  // one, kResourceExhausted for too many requests, kInvalidArgument if the
  // reader failed, and kCancelled if `cancelled` returned true. After an error,
  // the window is not marked as filled, so the worker waits until it is ended.
  Status Serve(uint64_t offset_untrusted, uint32_t serial_untrusted);
  // Records that the worker has answered a request of the host. The count of
  // its requests for media then starts again at 0.
  void Progressed() { reads_ = 0; }

 private:
  ServedMedia(const SourceReader& reader, std::function<bool()> cancelled,
              ipc::OwnedRegion region)
      : reader_(&reader),
        cancelled_(std::move(cancelled)),
        region_(std::move(region)) {}

  const SourceReader* reader_;
  std::function<bool()> cancelled_;
  ipc::OwnedRegion region_;
  uint32_t served_ = 0;  // serial number of the last request
  uint64_t reads_ = 0;   // requests since Progressed()
};

}  // namespace bulkhead::worker_protocol
