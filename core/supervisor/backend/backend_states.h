// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace bulkhead::supervisor {

// What a backend does in every situation: one table of its states and of all
// that may happen to it, without an empty cell. README.md shows it, and a test
// compares the two. The functions are pure; Backend holds the state and does
// what the table says.
//
// A zygote is "lost" when it ended through nobody's fault: by a SIGKILL that we
// did not send, or with its reaper. Sessions outlive their zygote, so stopping
// a zygote ends no session.

enum class BackendState : uint8_t {
  kDiscovered,   // nothing runs; the next one who asks starts it
  kStarting,     // a zygote loads the object, or its devices are counted
  kReady,        // sessions are placed
  kDraining,     // serves the sessions that it has and takes no others
  kBackingOff,   // failed; nothing is started before its time has come
  kQuarantined,  // failed too often; nothing is started
  kDisabled,     // by the operator, or what is installed cannot be used
};
inline constexpr size_t kBackendStates = 7;

enum class BackendEvent : uint8_t {
  kDeviceAsked,       // somebody needs one of its devices
  kBecameReady,       // the start under way has succeeded
  kStartFailed,       // the start under way has failed
  kStartLost,         // its zygote was lost in the start
  kZygoteFailed,      // the zygote of a ready backend ended by its own doing
  kZygoteLost,        // the zygote of a ready backend was lost
  kBackoffOver,       // the time of backing off is over
  kQuarantined,       // the restart policy or an earlier record decided so
  kQuarantineLifted,  // its record was taken away
  kFilesChanged,      // its files are not those that were discovered
  kReloadAsked,       // an operator wants what is installed now to be used
  kSuccessorReady,    // the one from the present files was checked
  kSuccessorFailed,   // it was not as it should be
  kFilesOverwritten,  // the memory of its processes is not what it was
  kRestartAsked,      // an operator wants a fresh start and no grudges
  kDisableAsked,      // an operator wants nobody to use it
  kEnableAsked,       // an operator takes that back
  kSessionsEnded,     // its last session was closed
};
inline constexpr size_t kBackendEvents = 18;

enum class BackendAction : uint8_t {
  kIgnore,
  kStart,         // starts a zygote
  kJoinStart,     // waits for the start under way
  kServe,         // places the session
  kRefuse,        // answers with the reason
  kAwaitBackoff,  // waits out a short time, refuses for a long one
  kBackOff,       // says when the next start may be
  kStop,          // ends the zygote; sessions go on
  kForgive,       // forgets every failure and its record
  kRestart,       // ends the zygote and forgets every failure
  kBeginAnew,     // is replaced by a backend of the present files
  kReplace,       // a successor from the present files is started and checked
  kDrain,         // leaves new sessions to its successor
  kGoOn,          // keeps what it was started from
  kRemove,        // is dropped
};

struct BackendStep {
  BackendState next;
  BackendAction action;

  bool operator==(const BackendStep&) const = default;
};

BackendStep Next(BackendState state, BackendEvent event);

// As README.md, `bulkhead backends` and messages have them.
const char* NameOf(BackendState state);
const char* NameOf(BackendEvent event);
const char* NameOf(BackendAction action);

}  // namespace bulkhead::supervisor
