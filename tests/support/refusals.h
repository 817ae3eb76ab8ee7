// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// Takes features of the kernel away from this process and from all processes
// that it starts, such as bulkheadd. This cannot be undone. All other features
// stay, so that a worker still meets Bulkhead's own refusals.
//
// Each function returns false with errno on failure.

// Refuses the six namespaces of the full tier, as a container's seccomp profile
// does, and unshare(CLONE_THREAD), as Docker's profile does with every
// unshare().
bool RefuseNamespaces();
// Refuses Landlock, as a kernel without Landlock does.
bool RefuseLandlock();
// Makes the system call `call` fail with `error`.
bool RefuseCall(long call, int error);
// Stops each system call `call` for the tracer of the process that makes it
// (PTRACE_O_TRACESECCOMP), which may make it fail. Without a tracer, it fails
// with ENOSYS.
bool TraceCall(long call);

}  // namespace bulkhead::tests
