// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace bulkhead::worker {

// Reads memory that a backend's pointers lead to. A wrong pointer would end the
// process with a signal, of which nobody could say that the backend caused it.
// A check costs about 15 microseconds for a megabyte.

// Returns false if there is no memory at some of the bytes. Memory that is
// there and may not be read looks like a device's, and counts as readable; so
// does everything on kernels before 5.14.
bool IsReadable(const void* data, size_t bytes);

// Returns the text up to its end, to `most` bytes, or to where it cannot be
// read.
std::string ReadText(const char* text, size_t most);

}  // namespace bulkhead::worker
