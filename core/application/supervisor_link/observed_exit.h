// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/control/crash_note.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/video_decoder.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::session {

// How a worker ended and what it was doing, as far as the application itself
// observed it. bulkheadd adds what the kernel reported, counts the exit, makes
// a record of it and answers with an ExitVerdict.
struct ObservedExit {
  enum class How {
    kDied,  // by itself, or somebody else killed it
    kLate,  // the application killed it for missing a deadline
    kLied,  // the application killed it for breaking the protocol
  };
  How how = How::kDied;
  bool met_media = false;  // the worker may have read of the input
  InputPosition position;  // what the exit is counted for

  // These are for the record.
  std::string position_text;
  CrashClaim claim;          // what the worker said itself; signal 0: nothing
  std::string cause;         // why the application killed the worker
  uint32_t attempt = 1;      // number of the attempt at the position
  Crash::Input input;        // only if met_media
  Crash::Request request;    // what the caller of the library asked for
  std::string last_message;  // what the worker was asked for last, in words
};

// The most bytes of a backend's options, and the most transforms, that a record
// keeps. Of a session with more, none of them is kept, and the request is
// marked as incomplete.
inline constexpr size_t kMaxOptionBytes = 16 * 1024;
inline constexpr size_t kMaxTransforms = 64;
void SetOptions(const VideoOptions& options, Crash::Request& request);
void SetOptions(const AudioOptions& options, Crash::Request& request);

// Writes all but the session and the device.
void Write(const ObservedExit& seen, ipc::schema::SessionEnd::Builder out);

}  // namespace bulkhead::session
