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

// What we know ourselves of how a worker ended, and of what it was doing: what
// bulkheadd needs to count it and to make a record of it.
struct ObservedExit {
  enum class How { kDied, kLate, kLied };
  How how = How::kDied;
  bool met_media = false;
  InputPosition position;

  std::string position_text;
  CrashClaim claim;      // signal 0: it left none
  std::string cause;     // what we killed it for
  uint32_t attempt = 1;  // at the position
  Crash::Input input;    // if it met any
  Crash::Request request;
  std::string last_message;
};

// So many bytes of a backend's options, and transforms, are told. Of a session
// with more none is, and its request is marked as not complete.
inline constexpr size_t kMaxOptionBytes = 16 * 1024;
inline constexpr size_t kMaxTransforms = 64;
void SetOptions(const VideoOptions& options, Crash::Request& request);
void SetOptions(const AudioOptions& options, Crash::Request& request);

// Without session and device.
void Write(const ObservedExit& seen, ipc::schema::SessionEnd::Builder out);

}  // namespace bulkhead::session
