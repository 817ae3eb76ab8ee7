// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/container_walk.h"

#include "backends/worker/media/asf_walk.h"
#include "backends/worker/media/chunk_walk.h"
#include "backends/worker/media/fragment_walk.h"
#include "backends/worker/media/frame_walk.h"
#include "backends/worker/media/matroska_walk.h"
#include "backends/worker/media/ogg_walk.h"
#include "backends/worker/media/transport_walk.h"

namespace bulkhead::worker {

std::unique_ptr<ContainerWalk> ContainerWalk::Of(std::string_view container,
                                                 int stream_id,
                                                 MediaBytes bytes, int64_t size,
                                                 int64_t declared) {
  FileWindow window(bytes, size);
  if (container == "matroska,webm") {
    return std::make_unique<MatroskaWalk>(window);
  }
  if (container == "ogg") return std::make_unique<OggWalk>(window);
  if (container == "mpegts") {
    return std::make_unique<TransportWalk>(window, stream_id);
  }
  if (container == "avi") return std::make_unique<AviWalk>(window, declared);
  if (container == "flv") {
    return std::make_unique<FlvWalk>(window, /*is_sound=*/false, declared);
  }
  if (container == "mov,mp4,m4a,3gp,3g2,mj2") {
    return FragmentWalk::Open(window, stream_id);
  }
  if (container == "asf") {
    auto walk = AsfWalk::Open(window, stream_id);
    return walk ? std::make_unique<AsfWalk>(*std::move(walk)) : nullptr;
  }
  if (const auto layout = ReadFrameLayout(container, window)) {
    return std::make_unique<FrameWalk>(window, *layout);
  }
  return nullptr;
}

}  // namespace bulkhead::worker
