// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::decode {

// Functions with which Examiner reads a backend's frame. They trust the frame's
// pointers.

// A field of bulkhead_frame, and the clause that defines its value.
struct FrameField {
  std::string_view name;
  const char* clause;  // for example "color-2"
  const char* words;   // what the clause demands, for errors (abi_breach.h)
  std::string (*value)(const bulkhead_frame&);  // the value as text
};
// Returns the field with this name, or null.
const FrameField* FindFrameField(std::string_view name);

// Returns a hash of the pixels or samples; 0 if the frame has none.
uint64_t HashOf(const bulkhead_frame& frame);

}  // namespace bulkhead::worker::decode
