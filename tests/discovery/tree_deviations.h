// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "tests/discovery/generated_trees.h"

namespace bulkhead::tests {

// The rows of the table in core/discovery/README.md about directories, as
// code: each is a rewriting that takes one irregularity out of a tree, so that
// importlib.metadata finds in the rewritten tree what we find in the original
// one.

// The names of all there are.
std::vector<std::string_view> TreeDeviations();

struct RewrittenTree {
  GeneratedTree tree;
  std::set<std::string_view> deviations;  // Those that changed something.
};

RewrittenTree Rewrite(const GeneratedTree& tree);

}  // namespace bulkhead::tests
