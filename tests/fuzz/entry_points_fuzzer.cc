// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the reader of entry_points.txt. The input is the file.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/discovery/entry_points.h"
#include "tests/fuzz/check.h"

namespace {

using bulkhead::Diagnostic;
using bulkhead::Diagnostics;
using bulkhead::EntryPoint;
using bulkhead::IsValidUtf8;
using bulkhead::Trimmed;
using bulkhead::discovery::ObjectReference;
using bulkhead::discovery::ParsedEntryPoints;
using bulkhead::discovery::ParseEntryPoints;
using bulkhead::discovery::ParseObjectReference;

bool IsFitToPrint(std::string_view text) {
  return IsValidUtf8(text) &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

void CheckEntry(const EntryPoint& entry, const EntryPoint& origin) {
  FUZZ_CHECK(!entry.name.empty() && Trimmed(entry.name) == entry.name);
  FUZZ_CHECK(entry.name.find_first_of("=\r\n") == std::string::npos);
  FUZZ_CHECK(entry.name[0] != '[');
  FUZZ_CHECK(IsValidUtf8(entry.name) && IsValidUtf8(entry.group));
  FUZZ_CHECK(!entry.group.empty() && entry.group.size() <= 255);
  FUZZ_CHECK(entry.group.find_first_of("\r\n") == std::string::npos);
  for (const std::string* text : {&entry.name, &entry.group, &entry.value}) {
    FUZZ_CHECK(text->find('\0') == std::string::npos);
  }
  const auto reference = ParseObjectReference(entry.value);
  FUZZ_CHECK(reference);
  FUZZ_CHECK(
      (*reference == ObjectReference{entry.module, entry.attr, entry.extras}));
  FUZZ_CHECK(entry.distribution == origin.distribution);
  FUZZ_CHECK(entry.version == origin.version);
  FUZZ_CHECK(entry.file == origin.file);
}

void CheckDiagnostics(const Diagnostics& diagnostics, const EntryPoint& origin,
                      size_t lines) {
  FUZZ_CHECK(diagnostics.size() <= 101);
  for (const Diagnostic& diagnostic : diagnostics) {
    FUZZ_CHECK(diagnostic.file == origin.file);
    FUZZ_CHECK(diagnostic.line >= 1 && diagnostic.line <= lines);
    FUZZ_CHECK(!diagnostic.message.empty());
    FUZZ_CHECK(diagnostic.message.size() < 2000);
    FUZZ_CHECK(IsFitToPrint(diagnostic.message));
  }
}

// Returns a regular file with the same entries.
std::string Printed(const std::vector<EntryPoint>& entries) {
  std::string text;
  for (const EntryPoint& entry : entries) {
    text += "[" + entry.group + "]\n" + entry.name + " = ";
    for (const char c : entry.value) {
      text += c;
      if (c == '\n') text += ' ';
    }
    text += '\n';
  }
  return text;
}

bool SameButForLines(EntryPoint a, const EntryPoint& b) {
  return a == b && a.module == b.module && a.attr == b.attr &&
         a.extras == b.extras;
}

void CheckPrinted(const ParsedEntryPoints& parsed, const EntryPoint& origin) {
  const ParsedEntryPoints again =
      ParseEntryPoints(Printed(parsed.entries), origin);
  FUZZ_CHECK(std::equal(parsed.entries.begin(), parsed.entries.end(),
                        again.entries.begin(), again.entries.end(),
                        SameButForLines));
  for (const Diagnostic& diagnostic : again.diagnostics) {
    FUZZ_CHECK(diagnostic.severity == Diagnostic::Severity::kWarning ||
               again.diagnostics.size() > 100);
  }
}

// Checks that a correct entry after the text is read, whatever the text
// contains.
void CheckNeighbour(std::string_view text, const ParsedEntryPoints& parsed,
                    const EntryPoint& origin) {
  if (text.find("neighbour") != std::string_view::npos) return;
  const ParsedEntryPoints more =
      ParseEntryPoints(std::string(text) + "\n[neighbour]\na = m:x\n", origin);
  FUZZ_CHECK(more.entries.size() == parsed.entries.size() + 1);
  FUZZ_CHECK(more.entries.back().group == "neighbour");
  FUZZ_CHECK(std::equal(parsed.entries.begin(), parsed.entries.end(),
                        more.entries.begin(), SameButForLines));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  EntryPoint origin;
  origin.distribution = "Vendor.Pkg";
  origin.version = "1.0";
  origin.file = "/p/v-1.0.dist-info/entry_points.txt";

  const ParsedEntryPoints parsed = ParseEntryPoints(text, origin);
  const size_t lines = 1 + static_cast<size_t>(std::count_if(
                               text.begin(), text.end(),
                               [](char c) { return c == '\n' || c == '\r'; }));
  std::set<std::pair<std::string, std::string>> names;
  uint32_t line = 0;
  for (const EntryPoint& entry : parsed.entries) {
    CheckEntry(entry, origin);
    FUZZ_CHECK(names.emplace(entry.group, entry.name).second);
    FUZZ_CHECK(entry.line > line && entry.line <= lines);
    line = entry.line;
  }
  CheckDiagnostics(parsed.diagnostics, origin, lines);
  CheckPrinted(parsed, origin);
  CheckNeighbour(text, parsed, origin);

  if (const auto reference = ParseObjectReference(text); !reference) {
    FUZZ_CHECK(IsFitToPrint(reference.error().message()));
  } else {
    FUZZ_CHECK(!reference->module.empty());
  }
  return 0;
}
