// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "core/include/bulkhead/allowed_media.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// Functions for the lists of containers and codecs that a caller allows
// (AllowedMedia). They check the lists, send them to the worker, which obeys
// them, and compare them with the container and codec that the worker reports.
// Pure functions.

// Returns kInvalidArgument if a list is too long, or has a name that no
// container or codec can have.
Status ValidateAllowed(const AllowedMedia& allowed);

// Returns the containers and codecs that `one` and `other` both allow, in
// FFmpeg's spelling.
AllowedMedia Both(const AllowedMedia& one, const AllowedMedia& other);

// Returns the largest number of words that WriteAllowed() needs in a message.
size_t AllowedWords(const AllowedMedia& allowed);
void WriteAllowed(const AllowedMedia& allowed,
                  ipc::schema::AllowedMedia::Builder out);

// Return kBackendMisbehaved if the container or the codec that the worker
// reports is not allowed. `container` has all names of the demuxer:
// "mov,mp4,m4a".
Status CheckContainer(const AllowedMedia& allowed, std::string_view container);
Status CheckOpened(const AllowedMedia& allowed, std::string_view container,
                   std::string_view codec);

}  // namespace bulkhead::worker_protocol
