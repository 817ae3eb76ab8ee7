// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/entry_points.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "core/discovery/text.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxDiagnostics = 100;

bool IsWord(char c) {
  return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}

// identifier ("." identifier)*
bool IsDottedName(std::string_view text) {
  bool start = true;
  for (const char c : text) {
    if (c == '.') {
      if (start) return false;
      start = true;
    } else if (!IsWord(c) || (start && IsAsciiDigit(c))) {
      return false;
    } else {
      start = false;
    }
  }
  return !start;
}

// word ("." word)*, where a word may begin with a digit.
bool IsGroupName(std::string_view text) {
  bool start = true;
  for (const char c : text) {
    if (c == '.' ? start : !IsWord(c)) return false;
    start = c == '.';
  }
  return !start;
}

// Letters and digits, with runs of "-", "_" and "." between them.
bool IsExtra(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c);
  };
  if (text.empty() || !alphanumeric(text.front()) ||
      !alphanumeric(text.back())) {
    return false;
  }
  for (const char c : text) {
    if (!alphanumeric(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

Status Invalid(std::string_view value, const std::string& why) {
  return Status(Code::kInvalidArgument, "the value " + Quoted(value) + " " +
                                            why +
                                            "; it should read module:attr");
}

// Everything between two parsed lines.
class Parser {
 public:
  explicit Parser(const EntryPoint& origin) : origin_(origin) {}

  void Line(std::string_view line) {
    ++line_;
    if (!IsValidUtf8(line)) return Bad("not UTF-8");
    if (line.find('\0') != std::string_view::npos) return Bad("has a NUL");
    const std::string_view text = Trimmed(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') return;
    const auto indent = static_cast<size_t>(text.data() - line.data());
    if (in_item_ && indent > indent_) {
      if (pending_) (value_ += '\n') += text;
      return;
    }
    Flush();
    indent_ = indent;
    // As the INI reader has it: from the first "[" to the last "]".
    const size_t close = text.rfind(']');
    if (text.front() == '[' && close != std::string_view::npos && close > 1) {
      return Header(text.substr(1, close - 1));
    }
    Assignment(text);
  }

  ParsedEntryPoints Finish() && {
    Flush();
    return std::move(result_);
  }

  void Report(Diagnostic::Severity severity, uint32_t line,
              const std::string& message) {
    Diagnostics& all = result_.diagnostics;
    if (all.size() > kMaxDiagnostics) return;
    if (all.size() == kMaxDiagnostics) {
      all.push_back({severity, origin_.file, line,
                     "more problems follow, which are not listed"});
      return;
    }
    all.push_back({severity, origin_.file, line, message});
  }

 private:
  void Bad(const std::string& message) {
    Flush();
    // Lines indented below a bad one belong to it.
    in_item_ = true;
    indent_ = 0;
    Report(Diagnostic::Severity::kError, line_, "ignored: " + message);
  }

  void Header(std::string_view name) {
    in_item_ = false;
    group_ = name;
    has_group_ = true;
    if (!IsGroupName(name)) {
      Report(Diagnostic::Severity::kWarning, line_,
             Quoted(name) + " is not a valid group name");
    } else if (name == "DEFAULT") {
      Report(Diagnostic::Severity::kWarning, line_,
             "\"DEFAULT\" is a group like any other, not a default for all");
    }
    if (!groups_.emplace(name).second) {
      Report(Diagnostic::Severity::kWarning, line_,
             "the group " + Quoted(name) + " is given twice; both count");
    }
  }

  void Assignment(std::string_view text) {
    const size_t indent = indent_;
    const size_t equals = text.find('=');
    const std::string_view name = Trimmed(text.substr(0, equals));
    std::string problem;
    if (!has_group_) {
      problem = "there is no [group] before it";
    } else if (equals == std::string_view::npos) {
      problem = Quoted(text) + " has no \"=\"";
    } else if (name.empty()) {
      problem = "no name before \"=\"";
    } else if (name.front() == '[') {
      problem = "the name " + Quoted(name) + " begins with \"[\"";
    }
    if (!problem.empty()) {
      Bad(problem);
      indent_ = indent;
      return;
    }
    in_item_ = true;
    pending_ = true;
    pending_line_ = line_;
    name_ = name;
    value_ = Trimmed(text.substr(equals + 1));
  }

  void Flush() {
    if (!std::exchange(pending_, false)) return;
    const std::string_view value = Trimmed(value_);
    Result<ObjectReference> reference = ParseObjectReference(value);
    if (!reference) {
      return Report(
          Diagnostic::Severity::kError, pending_line_,
          "ignored: " + Quoted(name_) + ": " + reference.error().message());
    }
    if (!names_.emplace(group_, name_).second) {
      return Report(Diagnostic::Severity::kError, pending_line_,
                    "ignored: the group " + Quoted(group_) + " already has " +
                        Quoted(name_));
    }
    EntryPoint& entry = result_.entries.emplace_back(origin_);
    entry.name = name_;
    entry.value = value;
    entry.group = group_;
    entry.module = std::move(reference->module);
    entry.attr = std::move(reference->attr);
    entry.extras = std::move(reference->extras);
    entry.line = pending_line_;
  }

  const EntryPoint& origin_;
  ParsedEntryPoints result_;
  std::set<std::string> groups_;
  std::set<std::pair<std::string, std::string>> names_;
  uint32_t line_ = 0;

  std::string group_;
  bool has_group_ = false;

  // The last assignment, to which deeper indented lines belong. `pending_` is
  // false when it was a bad one.
  bool in_item_ = false;
  bool pending_ = false;
  uint32_t pending_line_ = 0;
  size_t indent_ = 0;
  std::string name_;
  std::string value_;
};

}  // namespace

Result<ObjectReference> ParseObjectReference(std::string_view value_untrusted) {
  const std::string_view value = Trimmed(value_untrusted);
  std::string_view object = value;
  ObjectReference reference;
  if (!value.empty() && value.back() == ']') {
    const size_t open = value.find('[');
    if (open == std::string_view::npos) {
      return Invalid(value, "has a \"]\" without a \"[\"");
    }
    object = Trimmed(value.substr(0, open));
    std::string_view extras =
        Trimmed(value.substr(open + 1, value.size() - open - 2));
    while (!extras.empty()) {
      const size_t comma = extras.find(',');
      const std::string_view extra = Trimmed(extras.substr(0, comma));
      if (!IsExtra(extra)) return Invalid(value, "has malformed extras");
      reference.extras.emplace_back(extra);
      if (comma == std::string_view::npos) break;
      extras.remove_prefix(comma + 1);
      if (extras.empty()) return Invalid(value, "has malformed extras");
    }
  }
  const size_t colon = object.find(':');
  reference.module = Trimmed(object.substr(0, colon));
  if (!IsDottedName(reference.module)) {
    return Invalid(value, "has no valid module name");
  }
  if (colon != std::string_view::npos) {
    reference.attr = Trimmed(object.substr(colon + 1));
    if (!IsDottedName(reference.attr)) {
      return Invalid(value, "has no valid attribute after \":\"");
    }
  }
  return reference;
}

ParsedEntryPoints ParseEntryPoints(std::string_view text_untrusted,
                                   const EntryPoint& origin) {
  Parser parser(origin);
  std::string_view rest = text_untrusted;
  if (rest.starts_with("\xef\xbb\xbf")) {
    rest.remove_prefix(3);
    parser.Report(Diagnostic::Severity::kWarning, 1,
                  "begins with a byte order mark, which does not belong there");
  }
  while (!rest.empty()) {
    const size_t end = rest.find_first_of("\r\n");
    parser.Line(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool pair = rest.substr(end, 2) == "\r\n";
    rest.remove_prefix(end + (pair ? 2 : 1));
  }
  return std::move(parser).Finish();
}

}  // namespace bulkhead::discovery
