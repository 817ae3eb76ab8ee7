// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/source.h"
#include "core/include/bulkhead/status.h"
#include "ipc/shared_region.h"

namespace bulkhead::session {

// Memory through which one worker reads media that the application's reader
// has: filled on the worker's request, while the host waits for that worker.
//
// Trust: the worker may ask for any offset at any time. It gets what the reader
// gives for offsets within the media, and nothing else; it can only read this
// memory, which holds media alone. So what it can do is to make the reader
// work, which is bounded. The reader is the application's: what it does wrong
// is an error of the call, and the worker's fault in no way.
//
// Not thread-safe.
class ServedMedia {
 public:
  // `reader` outlives it.
  static Result<ServedMedia> Create(const SourceReader& reader);

  // To send to the worker.
  int fd() const { return region_.fd(); }

  // Fills the window and says so in it; the worker is still to be woken.
  // kBackendMisbehaved: no honest worker asks for that. kInvalidArgument: the
  // reader failed; then nothing was said to the worker.
  Status Serve(uint64_t offset_untrusted, uint32_t serial_untrusted);
  // The worker has answered what it was asked: it may read as much again.
  void Progressed() { reads_ = 0; }

 private:
  ServedMedia(const SourceReader& reader, ipc::OwnedRegion region)
      : reader_(&reader), region_(std::move(region)) {}

  const SourceReader* reader_;
  ipc::OwnedRegion region_;
  uint32_t served_ = 0;
  uint64_t reads_ = 0;  // since it last progressed
};

}  // namespace bulkhead::session
