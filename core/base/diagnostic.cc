// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead {

const char* SeverityName(Diagnostic::Severity severity) {
  switch (severity) {
    case Diagnostic::Severity::kNote:
      return "note";
    case Diagnostic::Severity::kWarning:
      return "warning";
    case Diagnostic::Severity::kError:
      break;
  }
  return "error";
}

std::string ToString(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += ":" + std::to_string(diagnostic.line);
  if (!text.empty()) text += ": ";
  return text + SeverityName(diagnostic.severity) + ": " + diagnostic.message;
}

}  // namespace bulkhead
