// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead {

// One remark about an item on the plugin path. Discovery never fails because of
// what it reads: it reports a diagnostic and continues with the other items.
struct Diagnostic {
  enum class Severity {
    kNote,     // Nothing is wrong; explains why an existing item is not used.
    kWarning,  // The item is used, but maybe not as its author expects.
    kError,    // The item is not used.
  };

  Severity severity = Severity::kError;
  std::string file;     // Path of a file or directory; may be empty.
  uint32_t line = 0;    // Counted from 1; 0 means the file as a whole.
  std::string message;  // Printable, even where it quotes a file.

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

// Returns "note", "warning" or "error". The string has static storage.
const char* SeverityName(Diagnostic::Severity severity);

// Returns "FILE:LINE: warning: MESSAGE", without the parts that are empty.
std::string ToString(const Diagnostic& diagnostic);

}  // namespace bulkhead
