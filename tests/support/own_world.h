// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// Separates the hosts of this test from the other applications of its user. An
// operator's command reaches every application of the user in one network
// namespace, since bulkheadd listens on an abstract socket. So a command that
// somebody gives on this machine, or another test, would change what this test
// sees.
//
// Puts the process into a network namespace of its own, with a loopback
// interface as outside. Call it in main(), before the first thread. Where the
// kernel refuses that (it needs CAP_SYS_ADMIN; a user namespace would show the
// owners of files as others), prints the reason to stderr: the test then runs
// beside the other applications.
void EnterOwnWorld();

// Returns true if EnterOwnWorld() has made a network namespace.
bool HasOwnNetwork();

}  // namespace bulkhead::tests
