// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Returns kInvalidArgument, naming the member, if a limit or a deadline is a
// number with which nothing could ever be decoded: 0, or negative. Three may be
// 0: the restarts and the kills of a position, and the deadline of closing.
Status CheckLimits(const Limits& limits);
Status CheckDeadlines(const Deadlines& deadlines);
// Returns kInvalidArgument if `against` is no name of a device, or the share is
// none.
Status CheckShadow(const ShadowOptions& shadow);

}  // namespace bulkhead
