// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "tests/discovery/generated_trees.h"

namespace bulkhead::tests {

// The differences between Bulkhead and importlib.metadata in searching
// directories: the rows of the table in core/discovery/README.md about
// directories, as code. Each deviation is a rewriting that takes one
// irregularity out of a tree, so that importlib.metadata finds in the rewritten
// tree what Bulkhead finds in the original.

// Returns the names of all deviations.
std::vector<std::string_view> TreeDeviations();

struct RewrittenTree {
  GeneratedTree tree;
  std::set<std::string_view>
      deviations;  // The deviations that changed the tree.
};

RewrittenTree Rewrite(const GeneratedTree& tree);

}  // namespace bulkhead::tests
