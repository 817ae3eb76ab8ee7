// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/device_capabilities.h"
#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/reports.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Compares streams with what devices declare. Pure functions. What a stream or
// a device does not state rules nothing out.

// Returns the stream that a decoder opens, as the session protocol defines it;
// null if there is none of the kind.
const StreamMetadata* StreamToOpen(const ContainerMetadata& container,
                                   StreamKind kind, std::optional<int> index,
                                   StreamChoice choice);

// Returns whether the device declares that it does not decode the stream.
bool RulesOut(const DeviceCapabilities& capabilities,
              const StreamMetadata& stream);

// Returns "h264 (High), 1920x1080".
std::string InWords(const StreamMetadata& stream);

// Names the devices that declare that they decode the stream, and those that
// declare nothing: "devices that decode it: cpu:0".
std::string DevicesFor(const StreamMetadata& stream,
                       const std::vector<DeviceInfo>& devices);

}  // namespace bulkhead::session
