// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::cli {

// Which inputs a batch has, where the output of each goes, and which of them
// one shard decodes. All processes of a batch make the same plan, since a plan
// depends on the list of inputs alone: not on their order, nor on what is on
// the disk.

// The directory below the output directory in which a batch keeps its records
// and what is not finished. No output has a name below it.
inline constexpr std::string_view kBatchRecords = ".batch";

struct BatchItem {
  std::string input;   // The path, as the user gave it.
  std::string output;  // The path below the output directory.
  bool operator==(const BatchItem&) const = default;
};

// Shard `number` of `count`, from 1.
struct BatchShard {
  uint64_t number = 1;
  uint64_t count = 1;
};

// Parses "I/N". kInvalidArgument unless I is from 1 to N.
Result<BatchShard> ParseShard(std::string_view text);

// Reads the paths of a list: one on each line, or before each NUL. Empty ones
// are left out. "-" is stdin. kNotFound or kInvalidArgument name the list.
Result<std::vector<std::string>> ReadList(const std::string& path,
                                          bool nul_separated);

// Sorts the inputs by their bytes, takes each once, and names the outputs:
// "clip.mp4" and `suffix` "png" give "clip.mp4.png". With `relative_to`, the
// directories between it and the input are kept; an input that is not below it
// is kInvalidArgument. So are two inputs with one output, and an output inside
// of another.
Result<std::vector<BatchItem>> PlanBatch(std::vector<std::string> inputs,
                                         const std::string& relative_to,
                                         const std::string& suffix);

// Returns the items of one shard: every `count`-th, so that neighbours, which
// often are alike in size, go to different shards.
std::vector<BatchItem> ItemsOf(const BatchShard& shard,
                               const std::vector<BatchItem>& items);

}  // namespace bulkhead::cli
