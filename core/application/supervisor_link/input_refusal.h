// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/control/input_position.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::session {

// By which bulkheadd knows an input again: equal for the same bytes (see
// media_identity.h), of which the backend decodes the same in the same way.
// Which device it is for is not part of it, since each backend has a memory of
// its own; nor are transforms, the type of the elements and threads, or a file
// that kills workers would be a new one with every random crop.
std::string InputKey(const std::string& identity, const VideoOptions& options);
std::string InputKey(const std::string& identity, const AudioOptions& options);
// Of what is described and not decoded.
std::string DescriptionKey(const std::string& identity);

// In words: "while opening", "at frame 37". `unit` is what the stream is
// counted in, "frame" or "sample".
std::string Describe(const InputPosition& position, std::string_view unit);

// The error of an input that is refused because it killed too many workers:
// kDeadlineExceeded if the last was killed for being late, else kPoisonedInput.
Status RefusalOf(const PoisonedPosition& poisoned, std::string_view unit,
                 std::string_view device);

}  // namespace bulkhead::session
