// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Return an error, mostly kInvalidArgument, for options that are wrong for
// every input and device. `name` is the name of the source.
Status CheckOptions(const std::string& name, const VideoOptions& options,
                    const Limits& limits);
Status CheckOptions(const std::string& name, const AudioOptions& options);

}  // namespace bulkhead::session
