// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "core/include/bulkhead/event.h"

namespace bulkhead::records {

// Writes an event to the journal of systemd, if the machine has one, so that an
// operator finds it after the application has ended:
//
//     journalctl BULKHEAD_BACKEND=acme BULKHEAD_EVENT=worker-ended
//
// Sessions that open and close are left out: the journal is for what an
// operator may have to act on. Never waits: an entry for which the journal has
// no room is dropped, and so is one for which bulkheadd has no descriptor left.
// The journal adds the pid, the user and the unit of bulkheadd itself.
void WriteToJournal(const Event& event, pid_t application);

// Returns the entry in the journal's native protocol, a line for each field;
// empty for an event that is left out. All texts are made safe for a terminal,
// so none of them contains a line break.
std::string JournalEntry(const Event& event, pid_t application);

}  // namespace bulkhead::records
