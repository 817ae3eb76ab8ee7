// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/crashes.h>

#include <string>
#include <vector>

namespace bulkhead::cli::operators {

// Functions that turn a crash record into text, for `bulkhead crashes` and
// `bulkhead top`. A record contains text from the process that crashed, so the
// result must pass through Printable() before it is shown on a terminal.

// Returns one line for a list of records: number, time, cause, and the position
// in the input.
std::string LineOf(const Crash& crash);

// Returns the whole record as lines. The first line is a heading.
std::vector<std::string> LinesOf(const Crash& crash);

}  // namespace bulkhead::cli::operators
