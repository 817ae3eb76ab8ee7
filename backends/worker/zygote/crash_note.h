// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::worker::zygote {

// The functions below install handlers that report why the process crashes. On
// SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGTRAP the process sends one
// schema::CrashNote over a socket: the faulting address, and the call stack
// with the names that the shared objects export. Then the process ends with the
// exit code that reports the signal (ipc::ExitOfFault). It does not die of the
// signal, since the kernel would write 64 bytes of the process to its log. If a
// session's thread faults, its handler first waits, at most about 200 ms, until
// the session's second thread has published the previous frame (side_thread.h).
//
// The note is only a claim, since the crashed code may have written it. The
// reaper, as the parent, reports reliably that the process ended, and its exit
// code. A process that is too broken to send the note simply ends, and a second
// fault inside the handler ends it at once. No note is sent
//   - for SIGABRT, since stage 2 permits no handler for it;
//   - by a thread that has exhausted its stack, except for the thread that
//     installed the handlers: only that thread has a stack for handlers
//     (sigaltstack);
//   - for a signal that was sent, as by kill(), and not raised by a fault; the
//     exit code is then always the one for SIGSEGV.
//
// Call these functions while the process has a single thread. They allocate the
// memory that the handler needs, and never free it. A clone of the zygote
// inherits the zygote's handlers and replaces them: it calls the function for
// its own kind of process, with its own socket. A session does so before stage
// 2, which forbids changes of handlers. bulkheadd checks that a session has the
// handlers (thread_status.h).

// For the zygote. Sends the note to bulkheadd as a ZygoteEvent.
void SendCrashNotesOfZygote(int socket);
// For the probe (probe.h). Sends the note to bulkheadd as a DeviceList.
void SendCrashNotesOfProbe(int socket);
// For a session's worker. Sends the note to the host as a CrashNote.
void SendCrashNotesOfSession(int socket);

}  // namespace bulkhead::worker::zygote
