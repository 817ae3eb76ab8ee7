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

// Pure functions that compare a stream with the streams that devices declare to
// decode. If the stream or the device does not state a property, the property
// counts as matching.

// Returns the stream that a worker would open for these options (by the rules
// in session.capnp), or null if the container has no such stream.
const StreamMetadata* StreamToOpen(const ContainerMetadata& container,
                                   StreamKind kind, std::optional<int> index,
                                   StreamChoice choice);

// Returns whether the device declares that it does not decode the stream.
bool RulesOut(const DeviceCapabilities& capabilities,
              const StreamMetadata& stream);

// Returns the stream in words: "h264 (High), 1920x1080".
std::string InWords(const StreamMetadata& stream);

// Returns words that list the devices that declare to decode the stream, and
// the devices that declare nothing: "devices that decode it: cpu:0".
std::string DevicesFor(const StreamMetadata& stream,
                       const std::vector<DeviceInfo>& devices);

}  // namespace bulkhead::session
