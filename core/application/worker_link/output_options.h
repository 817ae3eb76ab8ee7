// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// Functions for the part of VideoOptions that shapes the delivered frames:
// format, element type and transforms. The host sends this part to the worker
// when it opens a stream, and checks that the worker's answer agrees with it.

// Converts the public element type to the type of ipc/frame_geometry.h.
ipc::ElementType ElementOf(Dtype dtype);

// Checks the options. Returns kInvalidArgument for a transform that leaves no
// pixel, for too many transforms, for transforms without autoscale, and for
// native frames with options that are for RGB. Returns kResourceExhausted for a
// transform to more pixels than the limit. Only the worker can check that a
// crop lies within its picture.
Status ValidateOutput(const VideoOptions& options, const Limits& limits);

// Returns an upper bound of the message words (8 bytes) that WriteOutput()
// writes.
size_t OutputWords(const VideoOptions& options);
// Writes the options into the request that opens a stream. `known` is the
// metadata that an earlier worker of the session reported, or null. If known,
// the new worker must deliver the same format. Draws the place of a random crop
// from its seed alone, so that all workers of the session get the same place.
void WriteOutput(const VideoOptions& options, const VideoMetadata* known,
                 ipc::schema::Output::Builder out);

// Validates the part of the worker's answer that describes the frames, and adds
// it to `metadata`, whose width and height are validated already. An error
// means that the worker broke the protocol. Call inside ipc::ReadCatching.
Status AddOutputIfValid(ipc::schema::Opened::Reader opened_untrusted,
                        const VideoOptions& options, const Limits& limits,
                        VideoMetadata& metadata);

}  // namespace bulkhead::worker_link
