// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/control/input_position.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/video_options.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// The end of a worker and the work that the end interrupted, as the application
// observed them. bulkheadd adds what the kernel reported, counts the exit,
// records the crash, and answers with an ExitVerdict.
struct ObservedExit {
  enum class How {
    kDied,  // the worker ended by itself, or somebody else killed it
    kLate,  // the application killed it because it missed a deadline
    kLied,  // the application killed it because it broke the protocol
  };
  How how = How::kDied;
  bool met_media = false;  // the worker may have read from the media
  InputPosition position;  // the exit is counted for this position

  // The members below go into the crash record.
  std::string position_text;  // `position` in words
  std::string cause;          // why the application killed the worker
  // True if the worker itself supplied the text after the first colon of
  // `cause`, so that it is only a claim.
  bool claims_cause = false;
  uint32_t attempt = 1;      // number of the attempt at the position
  Crash::Input input;        // set only if met_media
  Crash::Request request;    // what the caller of the library asked for
  std::string last_message;  // the latest request to the worker, in words
};

// Limits of a crash record: the bytes of backend options, and the number of
// transforms.
inline constexpr size_t kMaxOptionBytes = 16 * 1024;
inline constexpr size_t kMaxTransforms = 64;

// Copy the options into `request`. If there are too many transforms, they are
// left out. If the backend options have too many bytes, they are left out, and
// the transforms too. In both cases Crash::Request::complete becomes false.
void SetOptions(const VideoOptions& options, Crash::Request& request);
void SetOptions(const AudioOptions& options, Crash::Request& request);

// Writes all fields of the message except `session` and `device`, which the
// caller (SessionRequests) sets.
void Write(const ObservedExit& seen, ipc::schema::SessionEnd::Builder out);

}  // namespace bulkhead::supervisor_link
