// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace bulkhead::worker::decode {

// Functions that check a backend's pointers before they are used. Without a
// check, a wrong pointer would end the process with a signal that does not show
// that the backend is at fault. A check costs about 15 microseconds for a
// megabyte.

// Returns false if some of the bytes are at addresses without memory. Memory
// that exists and must not be read, such as a device's, counts as readable. On
// kernels before 5.14, all addresses count as readable.
bool IsReadable(const void* data, size_t bytes);

// Returns the text up to its NUL or the first unreadable byte, at most `most`
// bytes. Returns an empty text for null.
std::string ReadText(const char* text, size_t most);

}  // namespace bulkhead::worker::decode
