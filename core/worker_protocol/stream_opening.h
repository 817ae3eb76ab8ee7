// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/include/bulkhead/allowed_media.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_options.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

using BackendOptions = std::span<const std::pair<std::string, std::string>>;

// The part of a request to open a stream that video and audio have in common.
struct StreamOpening {
  ipc::schema::StreamKind kind;
  // The index of the stream; nullopt for the one that `stream_choice` selects.
  std::optional<int> stream_index;
  StreamChoice stream_choice;
  uint32_t threads;  // 0: the decoder chooses
  BackendOptions backend_options;
  uint32_t device = 0;  // ordinal of the device within the backend
  // 1 for the session's first worker, one more for each later one.
  uint32_t incarnation = 1;
  std::string name_hint;  // base name, for choosing a demuxer
  int64_t media_bytes = 0;
  const Limits& limits;
  // How long the backend may go on returning BULKHEAD_AGAIN without taking a
  // packet or giving a frame. After that, the worker reports that the backend
  // misbehaves.
  std::chrono::milliseconds patience{5'000};
  AllowedMedia allowed = {};
};

// Returns kInvalidArgument if the options are too many or too long for one
// request.
Status ValidateBackendOptions(BackendOptions options);

// Returns the largest number of words that WriteOpening() needs. The request,
// together with the output options (OutputWords()), fits one record of the
// ring. This requires validated options and lists, and a `name_hint` no longer
// than the name of a file.
size_t OpeningWords(const StreamOpening& opening);
void WriteOpening(const StreamOpening& opening, ipc::schema::Open::Builder out);

}  // namespace bulkhead::worker_protocol
