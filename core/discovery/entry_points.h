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
  std::string attr;  // Empty: the module itself.
  std::vector<std::string> extras;

  bool operator==(const ObjectReference&) const = default;
};

// The parts between dots are identifiers, see text.h; around ":" and the
// brackets there may be white space. kInvalidArgument says what is wrong.
Result<ObjectReference> ParseObjectReference(std::string_view value_untrusted);

struct ParsedEntryPoints {
  std::vector<EntryPoint> entries;  // In file order, of every group.
  Diagnostics diagnostics;
};

// Reads an entry_points.txt as the packaging specification has it: INI,
// case-sensitive, only `=` delimits. A line that is wrong costs that line and
// a diagnostic, never a neighbour; at most 100 diagnostics are given. The
// README has the table of what happens to which irregularity. `origin` supplies
// distribution, version and file. Never fails, and takes time linear in the
// text, up to a logarithm of the number of its entries. Thread-safe.
ParsedEntryPoints ParseEntryPoints(std::string_view text_untrusted,
                                   const EntryPoint& origin);

}  // namespace bulkhead::discovery
