// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// Functions about the limit on bulkheadd's own open files (RLIMIT_NOFILE).
// bulkheadd holds the sockets, pidfds and memory of every stream on behalf of
// the application. main.cc raises bulkheadd's soft limit to the hard limit that
// it inherited, so messages name the hard limit. Thread-safe.

// The most files that an open stream takes: the socket, the log and the pidfd
// of its worker, a copy of the pidfd to wait on, and the memory of the frames.
// Streams of a backend with start = "exec" take more.
inline constexpr size_t kFilesOfAStream = 5;
// The most files that a stream takes while it is being opened, besides the
// descriptors that came with the request.
inline constexpr size_t kFilesOfAnOpening = 12;

// Returns whether `files` further files can be opened: opens them, and closes
// them again.
bool CanOpen(size_t files);

// Returns kResourceExhausted with the number of open files, the limit and a
// remedy. `purpose` completes "too few left to": "start a backend".
Status TooFewFiles(const std::string& purpose);
// Returns TooFewFiles() for the opening of a stream.
Status TooFewFilesForAStream();

// Returns a warning for people if only a few more streams can be opened, else
// an empty string. `newest` is a descriptor that was opened just now; its
// number hints whether to count the open files (NearOpenFiles()).
std::string NearOwnOpenFiles(int newest);

}  // namespace bulkhead::supervisor
