// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/entry_point.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The group whose entry points are backends.
inline constexpr std::string_view kBackendGroup = "bulkhead.backends";

// The right side of an entry point: `module[:attr] [extras]`.
struct ObjectReference {
  std::string module;
  std::string attr;  // Empty: the module itself is the object.
  std::vector<std::string> extras;

  bool operator==(const ObjectReference&) const = default;
};

// Parses the right side of an entry point. The parts between dots must be
// identifiers (text.h); white space is allowed around ":" and the brackets.
// Fails with kInvalidArgument if the text has another form; the message says
// why.
Result<ObjectReference> ParseObjectReference(std::string_view value_untrusted);

// The result of ParseEntryPoints.
struct ParsedEntryPoints {
  std::vector<EntryPoint> entries;  // All groups, in file order.
  Diagnostics diagnostics;
};

// Parses an entry_points.txt as the packaging specification defines it: INI,
// case-sensitive, with only `=` as delimiter. A wrong line is left out with a
// diagnostic and affects no other line; at most 100 diagnostics are returned.
// The README has a table of all irregularities. `origin` supplies distribution,
// version and file of the entries. Never fails. Takes time linear in the text,
// times the logarithm of the number of entries. Thread-safe.
ParsedEntryPoints ParseEntryPoints(std::string_view text_untrusted,
                                   const EntryPoint& origin);

}  // namespace bulkhead::discovery
