// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/worker/media/convert/picture.h"

struct SwsContext;

namespace bulkhead::worker::convert {

struct FreeSwsContext {
  void operator()(SwsContext* context) const;
};
using SwsContextPtr = std::unique_ptr<SwsContext, FreeSwsContext>;

// Makes a libswscale context that converts `source` to the format and size of
// `target`, with SWS_* `flags`. Returns null when memory is short. The caller
// calls sws_init_context before use, after setting further options if any.
SwsContextPtr AllocateScaler(const Picture& source, const Picture& target,
                             int flags);

}  // namespace bulkhead::worker::convert
