// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/include/bulkhead/metadata.h"

namespace bulkhead::session {

// Sets the best that is known from what header and content tell, by the rules
// of StreamTiming. `fps_from_header` and `container_seconds`: nullopt where
// those are not told, or are not above 0.
void ChooseBest(StreamTiming& timing, std::optional<double> fps_from_header,
                std::optional<double> container_seconds);

}  // namespace bulkhead::session
