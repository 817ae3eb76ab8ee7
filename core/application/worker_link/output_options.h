// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// What of VideoOptions concerns how frames come out: told to the worker, which
// does it, and compared with what the worker says it does.

ipc::ElementType ElementOf(Dtype dtype);

// kInvalidArgument for a transform that leaves nothing and for too many of
// them, kResourceExhausted for pictures larger than the limit. That crops lie
// within their pictures only the worker can tell.
Status ValidateOutput(const VideoOptions& options, const Limits& limits);

// Words that it takes in a message.
size_t OutputWords(const VideoOptions& options);
// `known` is what an earlier worker of the session said, or null. The place of
// a random crop is drawn here, from its seed alone: each worker is told the
// same.
void WriteOutput(const VideoOptions& options, const VideoMetadata* known,
                 ipc::schema::Output::Builder out);

// Adds to `metadata`, whose width and height are validated, what the worker
// says of the frames. An error means that it broke the protocol. Inside
// ipc::ReadCatching.
Status AddOutputIfValid(ipc::schema::Opened::Reader opened_untrusted,
                        const VideoOptions& options, const Limits& limits,
                        VideoMetadata& metadata);

}  // namespace bulkhead::session
