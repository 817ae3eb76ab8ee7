// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Functions that check the options of a Host when it is created. The message of
// an error names the option.

// Returns kInvalidArgument if a limit is so low that nothing could be decoded,
// or if there are too many frame slots. Only restarts_per_position and
// kills_per_position may be 0. Returns kResourceExhausted if a worker would
// have too little memory to start.
Status CheckLimits(const Limits& limits);
// Returns kInvalidArgument if a deadline is negative or 0. Deadlines::close may
// be 0.
Status CheckDeadlines(const Deadlines& deadlines);
// Returns kInvalidArgument if ShadowOptions::against is not a valid name of a
// device, or if ShadowOptions::share is not between 0 and 1.
Status CheckShadow(const ShadowOptions& shadow);

}  // namespace bulkhead
