// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::session {

// Makes the pools of a video stream, whose pictures may grow while it is
// decoded, within what a session may have (Limits::session_bytes). Not
// thread-safe.
class VideoPools {
 public:
  // `native` is true for OutputFormat::kNative.
  VideoPools(const Limits& limits, bool native)
      : limits_(limits), native_(native) {}

  // Returns a pool for frames of the stream's first size.
  Result<std::shared_ptr<worker_protocol::FramePool>> First(
      const VideoMetadata& metadata) const;
  // Returns a pool with room for frames of this layout, in place of `present`,
  // which the worker has.
  Result<std::shared_ptr<worker_protocol::FramePool>> Larger(
      const worker_protocol::FramePool& present,
      const ipc::FrameGeometry& geometry);
  void WorkerLost() { outgrown_bytes_ = 0; }

 private:
  // Returns how many slots the session may have.
  uint32_t MostSlots() const;

  const Limits limits_;
  const bool native_;
  // The size of the pools that the worker had before the present one.
  uint64_t outgrown_bytes_ = 0;
};

}  // namespace bulkhead::session
