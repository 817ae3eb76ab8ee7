// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// From here on, for good, the machine is one on which nobody gets the six
// namespaces of tier full, as under a container's seccomp profile: for this
// process, bulkheadd, and all that they start. Anything else stays as it was,
// so that what a worker meets is Bulkhead's own refusal. Only lowers.
//
// False, with errno: it could not be done.
bool RefuseNamespaces();

}  // namespace bulkhead::tests
