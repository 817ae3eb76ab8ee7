// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace bulkhead::worker::decode {

// Functions that check a backend's pointers before they are used. Otherwise a
// wrong pointer would end the process with a signal that does not show that the
// backend is at fault. A check costs about 15 microseconds for a megabyte.

// Returns false if some of the bytes are at addresses without memory. Memory
// that exists and must not be read, such as a device's, counts as readable; so
// does everything on kernels before 5.14.
bool IsReadable(const void* data, size_t bytes);

// Returns the text up to its NUL, at most `most` bytes, and only the part that
// is readable. Null gives an empty text.
std::string ReadText(const char* text, size_t most);

}  // namespace bulkhead::worker::decode
