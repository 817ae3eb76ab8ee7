// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::tests {

// One part of an edit list: what is played, and from where.
struct EditedPart {
  uint32_t duration;  // in units of the movie
  int32_t from;       // in units of the track; -1: nothing is shown
};

// Returns an MP4 file whose first track has this edit list in place of its own.
// Returns nullopt unless `file` has one and its `moov` is its last box, so that
// nothing else in the file has to move.
std::optional<std::string> WithEditList(std::string file,
                                        const std::vector<EditedPart>& parts);

}  // namespace bulkhead::tests
