// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead {

// Something worth saying about one item on the plugin path. Discovery never
// fails because of what it reads: it says this and goes on with the rest.
struct Diagnostic {
  enum class Severity {
    kNote,     // Nothing is wrong: says why something that exists is not used.
    kWarning,  // Used all the same, but not as its author may expect.
    kError,    // The item named is not used.
  };

  Severity severity = Severity::kError;
  std::string file;     // Or a directory; the path's bytes. May be empty.
  uint32_t line = 0;    // From 1; 0 is the file as a whole.
  std::string message;  // Text quoted from files is made printable.

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

// "note", "warning" or "error".
const char* SeverityName(Diagnostic::Severity severity);

// "FILE:LINE: warning: MESSAGE", without the parts that it does not have.
std::string ToString(const Diagnostic& diagnostic);

}  // namespace bulkhead
