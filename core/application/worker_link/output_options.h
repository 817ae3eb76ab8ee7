// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// Functions for the part of VideoOptions that shapes the delivered frames:
// format, element type and transforms. The host sends this part to the worker,
// and compares with it what the worker announces.

ipc::ElementType ElementOf(Dtype dtype);

// Returns kInvalidArgument for a transform that leaves no pixel, for too many
// transforms, for transforms of frames that keep their sizes, and for native
// frames with what is for RGB; kResourceExhausted
// for pictures larger than the limit. Only the worker can check that crops lie
// within their pictures.
Status ValidateOutput(const VideoOptions& options, const Limits& limits);

// Returns the most words that WriteOutput() needs.
size_t OutputWords(const VideoOptions& options);
// Writes the options into the request that opens a stream. `known` is the
// metadata that an earlier worker of the session reported, or null. The place
// of a random crop is drawn here, from its seed alone, so that each worker of
// the session gets the same place.
void WriteOutput(const VideoOptions& options, const VideoMetadata* known,
                 ipc::schema::Output::Builder out);

// Adds to `metadata`, whose width and height are validated, what the worker
// announces about the frames. An error means that the worker broke the
// protocol. Call inside ipc::ReadCatching.
Status AddOutputIfValid(ipc::schema::Opened::Reader opened_untrusted,
                        const VideoOptions& options, const Limits& limits,
                        VideoMetadata& metadata);

}  // namespace bulkhead::worker_link
