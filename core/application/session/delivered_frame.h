// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/frame.h"
#include "core/include/bulkhead/video_decoder.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Makes the Frame that the application gets from a picture that a worker has
// published. `index` is the frame's number, `device` the worker's device.
Frame MakeFrame(worker_link::PublishedFrame&& published, uint64_t index,
                const VideoMetadata& metadata, const VideoOptions& options,
                std::shared_ptr<const std::string> device);

}  // namespace bulkhead::session
