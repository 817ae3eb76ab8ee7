// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/application/batch/plan.h"

namespace bulkhead::cli {

// Says which files a run of the command was given, and which of them are its
// own.

// Shard `number` of `count`, from 1.
struct BatchShard {
  uint64_t number = 1;
  uint64_t count = 1;
};

// Parses "I/N". kInvalidArgument unless I is from 1 to N.
Result<BatchShard> ParseShard(std::string_view text);

// Returns the items of one shard: every `count`-th, so that neighbours, which
// often are alike in size, go to different shards.
std::vector<batch::Item> ItemsOf(const BatchShard& shard,
                                 const std::vector<batch::Item>& items);

// Reads the paths of a list: one on each line, or before each NUL. Empty ones
// are left out. "-" is stdin. kNotFound or kInvalidArgument name the list.
Result<std::vector<std::string>> ReadList(const std::string& path,
                                          bool nul_separated);

}  // namespace bulkhead::cli
