// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/include/bulkhead/source.h"
#include "core/include/bulkhead/status.h"
#include "ipc/shared_region.h"

namespace bulkhead::worker_protocol {

// Serves media that has no descriptor, because a reader of the application has
// it, to one worker: a window of shared memory (layout in
// ipc/media_window_layout.h) that the host fills on the worker's request, while
// it waits for that worker.
//
// Trust: the worker may ask for any offset at any time. It gets what the reader
// returns for offsets within the media, and nothing else; it can only read the
// window, which holds media alone. So all that a hostile worker can do is to
// make the reader work, and how often is bounded. The reader belongs to the
// application: its failure is an error of the call and never the worker's
// fault.
//
// Not thread-safe.
class ServedMedia {
 public:
  // `reader` must outlive the object. `cancelled` is asked after each read, and
  // returns true to end the call of the application; empty: nothing ends it.
  static Result<ServedMedia> Create(const SourceReader& reader,
                                    std::function<bool()> cancelled = {});

  // Returns the descriptor of the window, to send to the worker; -1 once it was
  // closed.
  int fd() const { return region_.fd(); }
  void CloseDescriptor() { region_.CloseDescriptor(); }

  // Fills the window with the media from an offset on, with nothing beyond its
  // end, and marks it as filled; the caller wakes the worker. Returns
  // kBackendMisbehaved for a request that no honest worker makes,
  // kInvalidArgument if the reader failed, and kCancelled; then the window is
  // not marked, and the worker waits for it in vain.
  Status Serve(uint64_t offset_untrusted, uint32_t serial_untrusted);
  // Records that the worker has answered a request, after which the worker may
  // read as often again.
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
