// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Makes one system call that both stages forbid. `name` selects the way of
// making the call; violation_test.cc has the table of names. Returns true if
// the process lives on, and false if the name is unknown.
bool Violate(const std::string& name);

// Returns whether this process uses speculative execution that the processor
// lets a process disable, or can enable it again.
bool Speculates();

// Starts a thread that runs until the process ends. Returns false on failure.
bool StartIdleThread();

}  // namespace bulkhead::tests
