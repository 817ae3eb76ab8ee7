// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/control/input_position.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::supervisor_link {

// Functions about inputs that have killed workers: how bulkheadd recognises an
// input, and how the library refuses one.

// Returns whether the decoder should ignore errors in the media where it can,
// as the application's option says.
bool IgnoresErrors(OnCorrupt on_corrupt);

// Returns the key by which bulkheadd recognises an input that has killed
// workers. Two keys are equal if the bytes are the same (`identity`, see
// media_identity.h), and the backend decodes the same stream of these bytes
// with the same options.
//
// The device is not part of the key, since bulkheadd keeps a list for each
// backend. The key ignores transforms, element type and number of threads. If
// it did not, a file that kills workers would be a new input with every random
// crop.
std::string InputKey(const std::string& identity, const VideoOptions& options);
std::string InputKey(const std::string& identity, const AudioOptions& options);
// Returns the key of an input that Host::Probe describes without decoding it.
std::string DescriptionKey(const std::string& identity);

// Returns the position in words: "while opening", "at frame 37". `unit` is
// "frame" for video, "sample" for audio.
std::string Describe(const InputPosition& position, std::string_view unit);

// Returns the error for an input that is refused on `device` because it has
// ended too many workers. The code depends on how the last of them ended:
// - it missed a deadline: kDeadlineExceeded
// - at the memory limit of its backend: kResourceExhausted
// - in any other way: kPoisonedInput
Status RefusalOf(const PoisonedPosition& poisoned, std::string_view unit,
                 std::string_view device);

}  // namespace bulkhead::supervisor_link
