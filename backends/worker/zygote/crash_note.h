// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::worker {

// Has the process say what it is about to die of: on SIGSEGV, SIGBUS, SIGFPE or
// SIGILL it sends one schema::CrashNote over a socket (the address that it
// touched and the calls that led there, by the names that the objects export),
// and then dies of that signal as it would have anyway.
//
// Nobody has to believe the note: the code that crashed may have written it.
// That the process ended, and by which signal, is told by its parent, the
// reaper. A process too broken to send one simply ends; a second fault on the
// way ends it at once. There is none for SIGABRT, for which stage 2 permits no
// handler, none from a thread that has used up its stack (only the calling
// thread gets another for the handler), and none for a signal that somebody
// else sent, of which the process dies as if it were SIGSEGV.
//
// For a process with a single thread, before stage 2; the memory that the
// handler needs is taken here and never given back. A clone of a zygote says
// anew where to.

// To bulkheadd, as a ZygoteEvent.
void SendCrashNotesOfZygote(int socket);
// To the host of a session.
void SendCrashNotesOfSession(int socket);

}  // namespace bulkhead::worker
