// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/discovery/importlib_oracle.h"

namespace bulkhead::tests {

// The rows of the table in core/discovery/README.md about values and lines, as
// code: each is a rewriting that takes one irregularity out of a file, so that
// importlib.metadata reads in the rewritten file what we read in the original
// one, or a rule about an entry that importlib.metadata has read. There is no
// third kind of difference.

// The names of all there are.
std::vector<std::string_view> FileDeviations();

struct RewrittenFile {
  std::string text;
  std::set<std::string_view> deviations;  // Those that changed something.
  // Characters that stand for others, which importlib.metadata would take for
  // something else.
  std::map<std::string, std::string> spellings;

  std::string Original(std::string_view rewritten) const;
};

// Whether the text has, by chance, one of the characters that a rewriting puts
// in place of others: then nothing can be said about it.
bool HasPlaceholder(std::string_view text);

RewrittenFile Rewrite(std::string_view text);

// What we should read in the original, given what importlib.metadata reads in
// the rewritten file. Adds the deviations that it applies.
std::vector<ReadEntry> Expected(RewrittenFile& file,
                                const std::vector<OracleEntry>& oracle);

}  // namespace bulkhead::tests
