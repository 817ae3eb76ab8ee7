// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// The part of VideoOptions that says how frames come out: type of the elements
// and transforms. The worker is told of it, and what the worker announces is
// compared with it.

ipc::ElementType ElementOf(Dtype dtype);

// Returns kInvalidArgument for a transform that leaves no pixel and for too
// many transforms, kResourceExhausted for pictures larger than the limit.
// Whether crops lie within their pictures only the worker can tell.
Status ValidateOutput(const VideoOptions& options, const Limits& limits);

// Returns how many words WriteOutput() takes at most.
size_t OutputWords(const VideoOptions& options);
// Writes the options into the request that opens a stream. `known` is the
// metadata that an earlier worker of the session reported, or null. The place
// of a random crop is drawn here, from its seed alone, so that each worker of
// the session is told the same place.
void WriteOutput(const VideoOptions& options, const VideoMetadata* known,
                 ipc::schema::Output::Builder out);

// Adds to `metadata`, whose width and height are validated, what the worker
// announces of the frames. An error means that the worker broke the protocol.
// Call inside ipc::ReadCatching.
Status AddOutputIfValid(ipc::schema::Opened::Reader opened_untrusted,
                        const VideoOptions& options, const Limits& limits,
                        VideoMetadata& metadata);

}  // namespace bulkhead::session
