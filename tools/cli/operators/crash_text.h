// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/crashes.h>

#include <string>
#include <vector>

namespace bulkhead::cli {

// Records of crashes as text for a person, the same in `bulkhead crashes` and
// in the pane of `bulkhead top`. A record has words of the process that
// crashed: what is shown on a terminal has to pass through Printable() first.

// Returns the line of a record in a list: its number, time, cause and place.
std::string LineOf(const Crash& crash);

// Returns all that a record says, line by line. The first line is a heading.
std::vector<std::string> LinesOf(const Crash& crash);

}  // namespace bulkhead::cli
