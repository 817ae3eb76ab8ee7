// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::batch {

// Says which inputs a batch has, and where the output of each goes. All
// processes of a batch make the same plan, since a plan depends on the list of
// inputs alone: not on their order, nor on what is on the disk.

// The directory below the output directory in which a batch keeps its records
// and what is not finished. No output has a name below it.
inline constexpr std::string_view kRecords = ".batch";

struct Item {
  std::string input;   // The path, as the user gave it.
  std::string output;  // The path below the output directory.
  bool operator==(const Item&) const = default;
};

// Sorts the inputs by their bytes, takes each once, and names the outputs:
// "clip.mp4" and `suffix` "png" give "clip.mp4.png". With `relative_to`, the
// directories between it and the input are kept; an input that is not below it
// is kInvalidArgument. So are two inputs with one output, and an output inside
// of another.
Result<std::vector<Item>> PlanOutputs(std::vector<std::string> inputs,
                                      const std::string& relative_to,
                                      const std::string& suffix);

}  // namespace bulkhead::batch
