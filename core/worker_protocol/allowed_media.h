// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "core/include/bulkhead/allowed_media.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// The host's side of a caller's AllowedMedia: checks the lists, sends them to
// the worker that keeps them, and compares what the worker reports. Functions
// without state.

// Returns kInvalidArgument for lists that are too long or have names that no
// container or codec has.
Status ValidateAllowed(const AllowedMedia& allowed);

// Returns what both allow, in FFmpeg's spelling.
AllowedMedia Both(const AllowedMedia& one, const AllowedMedia& other);

// Returns the most words that the message needs.
size_t AllowedWords(const AllowedMedia& allowed);
void WriteAllowed(const AllowedMedia& allowed,
                  ipc::schema::AllowedMedia::Builder out);

// Return a violation unless what the worker reports is allowed. `container` has
// all names of the demuxer, with commas between them.
Status CheckContainer(const AllowedMedia& allowed, std::string_view container);
Status CheckOpened(const AllowedMedia& allowed, std::string_view container,
                   std::string_view codec);

}  // namespace bulkhead::worker_protocol
