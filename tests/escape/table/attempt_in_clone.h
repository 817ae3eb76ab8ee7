// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {

// Makes each attempt of the zygote in a sibling process of its own, which the
// zygote clones as it clones session workers. A sibling is under stage 1 only,
// and its death does not cost the zygote. One zygote can therefore make all
// attempts.
//
// Returns for each attempt what Attempt::Run returned, or "signal N" if a fault
// was caught, "endless" if the sibling ran too long, or "K" if it was killed.
//
// No process in the sandbox may wait for another one or share memory with it,
// and the reaper leaves siblings that it was not told of as zombies. So an
// outcome travels in the offsets of open files, and a second thread of each
// sibling counts there as long as the sibling lives. SIGSYS cannot be caught if
// the filter kills, and nothing else kills here. So a sibling that fell silent
// without a result was killed by the filter. The deaths of whole zygotes, which
// the reaper reports, confirm this (table_test.cc, DeathsOfAZygote). Sets
// targets.spare_descriptors to the number of those files.
std::vector<std::string> RunInClones(
    const std::vector<const Attempt*>& attempts, Targets& targets);

}  // namespace bulkhead::tests
