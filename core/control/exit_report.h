// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// How it ended, in words that go on from "the worker died: ". For instance "it
// was killed by its sandbox (stage 2) for the system call socket (41, x86_64)".
std::string DescribeExit(const ExitReport& report);

// Where more is told, as the end of a message; empty where there is no record.
std::string SeeCrash(uint64_t crash);

}  // namespace bulkhead
