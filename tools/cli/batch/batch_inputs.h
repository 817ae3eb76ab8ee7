// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/application/batch/plan.h"

namespace bulkhead::cli::batch {

// The inputs of `bulkhead batch`: the files of a list, and the shard of them
// that one run decodes.

// One of `count` equal parts of a batch. `number` is from 1 to `count`.
struct BatchShard {
  uint64_t number = 1;
  uint64_t count = 1;
};

// Parses "I/N", shard I of N. Returns kInvalidArgument unless I is from 1 to N.
Result<BatchShard> ParseShard(std::string_view text);

// Returns the items of one shard: every `count`-th item, from item `number` on
// (counted from 1). Neighbours in a sorted list often have similar sizes, so
// this spreads large files over all shards.
std::vector<bulkhead::batch::Item> ItemsOf(
    const BatchShard& shard, const std::vector<bulkhead::batch::Item>& items);

// Reads a list of paths from the file `path`, or from stdin for "-". Each path
// ends with a line feed, or with NUL if `nul_separated`. Empty paths are left
// out. Returns kNotFound or kInvalidArgument, naming the list.
Result<std::vector<std::string>> ReadList(const std::string& path,
                                          bool nul_separated);

}  // namespace bulkhead::cli::batch
