// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Describes an end in words that follow "the worker died: ". For instance "it
// was killed by its sandbox (stage 2) for the system call socket (41, x86_64)".
std::string DescribeExit(const ExitReport& report);

// Returns whether no fault raises the signal: whoever sent it wanted the
// process to end. The sandbox lets no process of a backend send itself one.
bool IsRequestToEnd(int signal);

// Returns "; see `bulkhead crashes show N`", which ends a message, or an empty
// string if `crash` is 0, that is, if there is no record.
std::string SeeCrash(uint64_t crash);

}  // namespace bulkhead
