// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace bulkhead::session {

// What an open stream does in every situation: one table of its states and of
// all that may happen to it, without an empty cell.
// core/supervisor/README.md shows it, and a test compares the two. The
// functions are pure; WorkerRecovery holds the state.
//
// Deaths are of the worker; that of its reaper or of bulkheadd shows itself as
// one. Which of them count, and how many are too many, is not decided here
// (core/supervisor/blame/worker_blame.h).

enum class SessionState : uint8_t {
  kOpening,    // its first worker opens the input; nobody has a decoder yet
  kScanning,   // the index is made
  kSeeking,    // a frame of a chosen place is looked for
  kStreaming,  // the stream is open; frames come in their order
  kReplaying,  // its worker died, and another opens the input again
  kEnded,      // the last frame was delivered
  kFailed,     // the caller got an error of a worker's end
};
inline constexpr size_t kSessionStates = 7;

enum class SessionEvent : uint8_t {
  kOpened,             // a worker has opened the input and has the pool
  kIndexAsked,         // the caller needs the index
  kIndexed,            // the last part of it has come
  kFrameAsked,         // the caller wants the next frame
  kPlaceAsked,         // the caller wants a frame by its place
  kFrame,              // the frame that the caller waits for has come
  kEndOfStream,        // there is no further frame
  kRefused,            // an error about the input or the call; nobody died
  kWorkerDied,         // and may be replaced, whosever fault it was
  kDeadline,           // it was killed for being late, and may be replaced
  kProtocolViolation,  // it was killed for what it sent
  kGivenUp,            // it died, and there were deaths enough
  kPoisoned,           // the input is known to kill workers at this position
  kRewound,            // the caller starts over
  kClosed,             // the caller is done
};
inline constexpr size_t kSessionEvents = 15;

enum class SessionAction : uint8_t {
  kIgnore,
  kServe,    // the worker is asked
  kDeliver,  // the caller gets the frame
  kResume,   // the step that was interrupted is done again
  kReplay,   // another worker is started, alone
  kTellEnd,  // the caller is told that there is none
  kFail,     // the caller gets an error, with how the worker ended
  kReport,   // the caller gets the error; the session can be used on
  kForget,   // what was delivered is forgotten, and frames start over
  kRelease,  // the worker is released, and its frames live on
};

struct SessionStep {
  SessionState next;
  SessionAction action;

  bool operator==(const SessionStep&) const = default;
};

SessionStep Next(SessionState state, SessionEvent event);

// As the README has them.
const char* NameOf(SessionState state);
const char* NameOf(SessionEvent event);
const char* NameOf(SessionAction action);

}  // namespace bulkhead::session
