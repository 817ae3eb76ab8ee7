// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {

// Makes an attempt of the zygote in a sibling process, which the zygote clones
// as it clones session workers. The sibling is under stage 1 only, and its
// death does not cost the zygote. One zygote can therefore make all attempts.
//
// Returns what Attempt::Run returned, or "signal N" if a fault was caught,
// "exit" if the sibling exited by itself, or "K" if the filter killed the
// sibling.
//
// No process in the sandbox may wait for another one, so the sibling's end is
// seen through a robust futex, which the kernel marks. SIGSYS cannot be caught
// if the filter kills, and nothing else kills here. So a sibling that began and
// ended without a result was killed by the filter. The deaths of whole zygotes,
// which the reaper reports, confirm this (table_test.cc, DeathsOfAZygote).
std::string RunInClone(const Attempt& attempt, const Targets& targets);

}  // namespace bulkhead::tests
