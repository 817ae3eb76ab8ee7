// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "core/include/bulkhead/event.h"

namespace bulkhead::records {

// Writes an event to the journal of systemd, if the machine has one, so that an
// operator finds the event after the application has ended:
//
//     journalctl BULKHEAD_BACKEND=acme BULKHEAD_EVENT=worker-ended
//
// The opening and closing of sessions is left out: the journal is for events on
// which an operator may have to act. Never waits: an entry is dropped if the
// journal has no room or bulkheadd has no descriptor left. The journal adds the
// pid, the user and the unit of bulkheadd itself. `application` is the
// application's pid.
void WriteToJournal(const Event& event, pid_t application);

// Returns the entry in the journal's native protocol, which has one line for
// each field. Returns an empty string for an event that is left out. All texts
// are made safe for a terminal, so none of them contains a line break.
std::string JournalEntry(const Event& event, pid_t application);

}  // namespace bulkhead::records
