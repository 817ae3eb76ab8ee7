// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::batch {

// The plan of a batch: its inputs, and the path of each output. Processes on
// many machines may decode parts of one batch. All of them make the same plan,
// because it depends only on the set of the inputs' names, not on their order
// or the contents of the disk.

// The directory, below the output directory, for the records of a batch and for
// unfinished outputs. PlanOutputs() never plans an output in it.
inline constexpr std::string_view kRecords = ".batch";

// One input of a batch, and its output.
struct Item {
  std::string input;   // The path, as the user gave it.
  std::string output;  // The path below the output directory.
  bool operator==(const Item&) const = default;
};

// Sorts the inputs by their bytes, drops duplicates, and names the outputs:
// "clip.mp4" and `suffix` "png" give "clip.mp4.png". If `relative_to` is empty,
// all outputs are in the output directory itself. If not, an output keeps the
// directories between `relative_to` and its input. Returns kInvalidArgument if
// an input is not the name of a file or not below `relative_to`, if two inputs
// would have the same output path, or if one output path would be inside
// another.
Result<std::vector<Item>> PlanOutputs(std::vector<std::string> inputs,
                                      const std::string& relative_to,
                                      const std::string& suffix);

}  // namespace bulkhead::batch
