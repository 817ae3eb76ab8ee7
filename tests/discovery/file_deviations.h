// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/discovery/importlib_oracle.h"

namespace bulkhead::tests {

// The differences between Bulkhead and importlib.metadata in reading
// entry_points.txt: the rows of the table in core/discovery/README.md about
// values and lines, as code. A deviation is one of two things: a rewriting that
// takes one irregularity out of a file, so that importlib.metadata reads from
// the rewritten file what Bulkhead reads from the original; or a rule about an
// entry that importlib.metadata has read.

// Returns the names of all deviations.
std::vector<std::string_view> FileDeviations();

struct RewrittenFile {
  std::string text;
  std::set<std::string_view>
      deviations;  // The deviations that changed the file.
  // Maps each placeholder character to the text that it replaces, which
  // importlib.metadata would read as something else.
  std::map<std::string, std::string> spellings;

  std::string Original(std::string_view rewritten) const;
};

// Returns whether the text contains a placeholder character by chance. Such a
// text cannot be compared.
bool HasPlaceholder(std::string_view text);

RewrittenFile Rewrite(std::string_view text);

// Returns the entries that Bulkhead should read from the original file, given
// the entries that importlib.metadata reads from the rewritten file. Adds the
// deviations that it applies to `file`.
std::vector<ReadEntry> Expected(RewrittenFile& file,
                                const std::vector<OracleEntry>& oracle);

}  // namespace bulkhead::tests
