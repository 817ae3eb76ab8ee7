// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// The open files of bulkheadd itself. It has sockets, pidfds and memory of
// every stream in the application's place. Its soft limit is the hard limit
// that the application was started with (main.cc), so that limit is named to
// people. Every function may be called on any thread.

// A stream takes at most these for as long as it is open: the socket, the log
// and the pidfd of its worker, a copy of the pidfd to wait on, and the memory
// of the frames. Streams of a backend with start = "exec" take more.
inline constexpr size_t kFilesOfAStream = 5;
// While a stream is opened, it takes as many, beside what its request carries.
inline constexpr size_t kFilesOfAnOpening = 12;

// Returns whether that many files can be opened, by opening them.
bool CanOpen(size_t files);

// Returns kResourceExhausted with the number of open files, the limit and what
// helps. `purpose` is what they do not suffice for: "start a backend".
Status TooFewFiles(const std::string& purpose);
Status TooFewFilesForAStream();

// Returns what to say to people if few more streams can be opened, and an empty
// string otherwise. `newest` is as in application_limits.h.
std::string NearOwnOpenFiles(int newest);

}  // namespace bulkhead::supervisor
