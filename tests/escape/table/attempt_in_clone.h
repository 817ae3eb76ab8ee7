// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {

// Makes an attempt of the zygote in a sibling that the zygote clones, as it
// clones session workers: under stage 1 alone, and a death costs no zygote. So
// one zygote makes all attempts.
//
// Returns what Attempt::Run returned, or "signal N" where a fault was caught,
// "exit" where it ended by itself, or "K". Nobody in the sandbox may wait for a
// process; its end shows in a robust futex, which the kernel marks. SIGSYS
// cannot be caught once a filter kills, and nobody else kills here: so a
// process that began, and ended without a word, was killed by the filter. The
// deaths of a whole zygote, reported by the reaper, confirm it
// (table_test.cc, DeathsOfAZygote).
std::string RunInClone(const Attempt& attempt, const Targets& targets);

}  // namespace bulkhead::tests
