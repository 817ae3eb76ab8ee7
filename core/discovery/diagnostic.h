// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::discovery {

enum class Severity {
  kInfo,     // Nothing is wrong: says why something that exists is not used.
  kWarning,  // Used all the same, but not as its author may expect.
  kError,    // The item named is not used.
};

// Something worth saying about one item on the plugin path. Discovery never
// fails because of what it reads: it says this and goes on with the rest.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;     // Or a directory; the path's bytes. May be empty.
  int line = 0;         // From 1; 0 is the file as a whole.
  std::string message;  // Text quoted from files is made printable.

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

inline const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

// "FILE:LINE: warning: MESSAGE", without the parts that it does not have.
inline std::string ToString(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += ":" + std::to_string(diagnostic.line);
  if (!text.empty()) text += ": ";
  return text + SeverityName(diagnostic.severity) + ": " + diagnostic.message;
}

}  // namespace bulkhead::discovery
