// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/control/input_position.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::supervisor_link {

// Returns whether the decoder is to ignore the errors that it can.
bool IgnoresErrors(OnCorrupt on_corrupt);

// Returns the key by which bulkheadd recognises an input that has killed
// workers: equal for the same bytes (see media_identity.h) of which the backend
// decodes the same stream with the same options.
//
// The device is not part of the key, since bulkheadd keeps a list for each
// backend. Neither are transforms, the type of the elements and the number of
// threads: a file that kills workers would otherwise be a new file with every
// random crop.
std::string InputKey(const std::string& identity, const VideoOptions& options);
std::string InputKey(const std::string& identity, const AudioOptions& options);
// Returns the key of an input that is described and not decoded.
std::string DescriptionKey(const std::string& identity);

// Returns the position in words: "while opening", "at frame 37". `unit` is what
// the stream is counted in, "frame" or "sample".
std::string Describe(const InputPosition& position, std::string_view unit);

// Returns the error for an input that is refused because it has ended too many
// workers: kDeadlineExceeded if the last of them was late, kResourceExhausted
// if the last was killed at the limit of its backend's memory, else
// kPoisonedInput.
Status RefusalOf(const PoisonedPosition& poisoned, std::string_view unit,
                 std::string_view device);

}  // namespace bulkhead::supervisor_link
