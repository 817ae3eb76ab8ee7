// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// From here on, for good, the machine is a lesser one for this process,
// bulkheadd, and all that they start. Anything else stays as it was, so that
// what a worker meets is Bulkhead's own refusal.
//
// False, with errno: it could not be done.

// Nobody gets the six namespaces of tier full, as under a container's seccomp
// profile. Only lowers.
bool RefuseNamespaces();
// As on a kernel without Landlock.
bool RefuseLandlock();
// That system call, with that error.
bool RefuseCall(long call, int error);

}  // namespace bulkhead::tests
