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

// Makes the pools of slots for a video stream. Without autoscale, pictures may
// become larger while the stream is decoded; the worker then gets a pool with
// larger slots. All pools of a worker together stay within
// Limits::session_bytes. Owned by the session. Not thread-safe.
class VideoPools {
 public:
  // `native` is true for OutputFormat::kNative.
  VideoPools(const Limits& limits, bool native)
      : limits_(limits), native_(native) {}

  // Returns a pool for frames of the size in `metadata`.
  Result<std::shared_ptr<worker_protocol::FramePool>> First(
      const VideoMetadata& metadata) const;
  // Returns a pool whose slots have room for frames of this layout, in place of
  // `present`, the worker's present pool. Returns kResourceExhausted if the
  // memory left has no room for two slots.
  Result<std::shared_ptr<worker_protocol::FramePool>> Larger(
      const worker_protocol::FramePool& present,
      const ipc::FrameGeometry& geometry);
  // Forgets the pools of the worker, which has ended.
  void WorkerLost() { outgrown_bytes_ = 0; }

 private:
  // Returns the largest number of slots of a pool.
  uint32_t MostSlots() const;

  const Limits limits_;
  const bool native_;
  // The bytes of the pools that the present worker had before its present pool.
  uint64_t outgrown_bytes_ = 0;
};

}  // namespace bulkhead::session
