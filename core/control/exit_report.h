// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/include/bulkhead/exit_report.h"

namespace bulkhead {

// Describes the end of a worker in words that can follow "the worker died: ",
// for instance "it was killed by its sandbox (stage 2) for the system call
// socket (41, x86_64)". `subject` replaces "it".
std::string DescribeExit(const ExitReport& report,
                         const std::string& subject = "it");

// Returns whether `signal` is a request to end, such as SIGTERM. No fault
// raises such a signal, so somebody sent it on purpose. The sandbox lets no
// process of a backend send itself such a signal.
bool IsRequestToEnd(int signal);

// Returns "; see `bulkhead crashes show N`", for the end of a message. Returns
// an empty string if `crash` is 0, which means that there is no record.
std::string SeeCrash(uint64_t crash);

}  // namespace bulkhead
