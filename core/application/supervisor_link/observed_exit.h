// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/control/input_position.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/video_decoder.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// The end of a worker and the work that was interrupted, as far as the
// application itself observed them. bulkheadd adds what the kernel reported,
// counts the exit, makes a record of it and answers with an ExitVerdict.
struct ObservedExit {
  enum class How {
    kDied,  // the worker ended by itself, or somebody else killed it
    kLate,  // the application killed it for missing a deadline
    kLied,  // the application killed it for breaking the protocol
  };
  How how = How::kDied;
  bool met_media = false;  // the worker may have read from the input
  InputPosition position;  // the exit is counted for this position

  // The members below go into the crash record.
  std::string position_text;
  std::string cause;          // why the application killed the worker
  bool claims_cause = false;  // the worker's own words follow the first colon
  uint32_t attempt = 1;       // number of the attempt at the position
  Crash::Input input;         // set only if met_media
  Crash::Request request;     // what the caller of the library asked for
  std::string last_message;   // what the worker was asked for last, in words
};

// The most bytes of backend options, and the most transforms, that a record
// keeps. SetOptions() drops a list that exceeds its limit, and the transforms
// also if the backend options exceed theirs. It then marks the request as
// incomplete.
inline constexpr size_t kMaxOptionBytes = 16 * 1024;
inline constexpr size_t kMaxTransforms = 64;
void SetOptions(const VideoOptions& options, Crash::Request& request);
void SetOptions(const AudioOptions& options, Crash::Request& request);

// Writes all fields of the message except the session and the device.
void Write(const ObservedExit& seen, ipc::schema::SessionEnd::Builder out);

}  // namespace bulkhead::supervisor_link
