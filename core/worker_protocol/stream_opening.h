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

// The part of the request to open a stream that every kind of stream has in
// common.
struct StreamOpening {
  ipc::schema::StreamKind kind;
  // nullopt: the stream of the kind that `stream_choice` names.
  std::optional<int> stream_index;
  StreamChoice stream_choice;
  uint32_t threads;  // 0: the decoder chooses
  BackendOptions backend_options;
  uint32_t device = 0;       // ordinal of the device within the backend
  uint32_t incarnation = 1;  // number of this worker within its session
  std::string name_hint;     // base name, for choosing a demuxer
  int64_t media_bytes = 0;
  const Limits& limits;
  // How long a backend may return BULKHEAD_AGAIN from every call.
  std::chrono::milliseconds patience{5'000};
  AllowedMedia allowed = {};
};

// Returns kInvalidArgument for options that are too many or too long for a
// request.
Status ValidateBackendOptions(BackendOptions options);

// Returns the most words that the request needs. With options and lists that
// were validated, and a name of a file, a request and what OutputWords() adds
// fit a record of the ring.
size_t OpeningWords(const StreamOpening& opening);
void WriteOpening(const StreamOpening& opening, ipc::schema::Open::Builder out);

}  // namespace bulkhead::worker_protocol
