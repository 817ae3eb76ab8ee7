// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/entry_points.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxDiagnostics = 100;

// Bounded, because every entry has a copy of the group.
constexpr size_t kMaxGroupBytes = 255;

// Returns whether `text` is `part ("." part)*`.
template <typename Predicate>
bool IsDotted(std::string_view text, Predicate is_part) {
  while (true) {
    const size_t dot = text.find('.');
    if (!is_part(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// Returns whether `text` consists of letters and digits, with runs of "-", "_"
// and "." between them.
bool IsExtra(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c);
  };
  return !text.empty() && alphanumeric(text.front()) &&
         alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

// Parses the text between the brackets. Returns false if it is malformed.
bool ParseExtras(std::string_view text, std::vector<std::string>& extras) {
  if (text.find('\n') != std::string_view::npos) return false;
  if (Trimmed(text).empty()) return true;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view extra = Trimmed(text.substr(0, comma));
    if (!IsExtra(extra)) return false;
    extras.emplace_back(extra);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

Status Invalid(std::string_view value, const std::string& why) {
  return Status(Code::kInvalidArgument, "the value " + Quoted(value) + " " +
                                            why +
                                            "; it should read module:attr");
}

// Numbers keys in the order of their first appearance. Most files have few
// keys, for which nothing is allocated. Many keys take logarithmic time each,
// even if an attacker chose them.
template <typename Key>
class Numbering {
 public:
  struct Place {
    uint32_t number;
    bool is_new;
  };

  Place Add(const Key& key) {
    if (count_ <= few_.size()) {
      const auto end = few_.begin() + count_;
      const auto found = std::find(few_.begin(), end, key);
      if (found != end) {
        return {static_cast<uint32_t>(found - few_.begin()), false};
      }
      if (count_ < few_.size()) {
        few_[count_] = key;
        return {count_++, true};
      }
    }
    // From the 17th key on, the map has all keys.
    if (many_.empty()) {
      for (uint32_t i = 0; i < few_.size(); ++i) many_.emplace(few_[i], i);
    }
    const auto [found, is_new] = many_.try_emplace(key, count_);
    if (is_new) ++count_;
    return {found->second, is_new};
  }

 private:
  std::array<Key, 16> few_;
  uint32_t count_ = 0;
  std::map<Key, uint32_t> many_;
};

// Parses an entry_points.txt line by line, and keeps the state between lines.
// An entry is pending until a line comes that does not continue it; Flush()
// then completes it. Views point into the parsed text.
class Parser {
 public:
  Parser(const EntryPoint& origin, bool is_plain)
      : origin_(origin), is_plain_(is_plain) {}

  void Line(std::string_view line) {
    ++line_;
    const std::string_view text = Trimmed(line);
    if (text.empty()) {
      ++blank_lines_;
      return;
    }
    const char* flaw = Flaw(line);
    if (text.front() == '#' || text.front() == ';') {
      if (flaw != nullptr) {
        Report(Diagnostic::Severity::kWarning, line_,
               std::string("this comment ") + flaw);
      }
      return;
    }
    const size_t indent =
        Width(line.substr(0, static_cast<size_t>(text.data() - line.data())));
    if (item_ != Item::kNone && indent > indent_) return Continue(text, flaw);
    Flush();
    indent_ = indent;
    // A header extends from the first "[" to the last "]", as in Python's INI
    // reader.
    const size_t close = text.rfind(']');
    if (text.front() != '[') return Assignment(text, flaw);
    if (close != std::string_view::npos && close > 1) {
      return Header(text.substr(1, close - 1), flaw);
    }
    if (text.find('=') != std::string_view::npos) {
      return Drop("the name in " + Quoted(text) + " begins with \"[\"");
    }
    BrokenHeader(Quoted(text) + " is no [group]");
  }

  ParsedEntryPoints Finish() && {
    Flush();
    return std::move(result_);
  }

  void Report(Diagnostic::Severity severity, uint32_t line,
              std::string message) {
    Diagnostics& all = result_.diagnostics;
    if (all.size() > kMaxDiagnostics) return;
    if (all.size() == kMaxDiagnostics) {
      message = "more problems follow, which are not listed";
    }
    all.push_back({severity, origin_.file, line, std::move(message)});
  }

 private:
  // The item above, to which a line that is indented deeper belongs.
  enum class Item {
    kNone,     // None: the line begins an item of its own.
    kPending,  // The assignment in name_ and value_.
    kDropped,  // A line that was dropped: its continuations are, too.
  };

  // Returns the width of an indentation: its characters, if it is UTF-8.
  static size_t Width(std::string_view text) {
    return static_cast<size_t>(std::count_if(
        text.begin(), text.end(),
        [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
  }

  // Returns the reason why the line must not be used ("is not UTF-8"), or null.
  const char* Flaw(std::string_view line) const {
    if (is_plain_) return nullptr;
    if (!IsValidUtf8(line)) return "is not UTF-8";
    return line.find('\0') != std::string_view::npos ? "has a NUL" : nullptr;
  }

  // Reports that the line is ignored, with the lines that continue it.
  void Drop(const std::string& problem) {
    // Before the first group, no line continues another line.
    item_ = header_line_ == 0 ? Item::kNone : Item::kDropped;
    Report(Diagnostic::Severity::kError, line_, "ignored: " + problem);
  }

  void Header(std::string_view name, const char* flaw) {
    if (flaw != nullptr) {
      return BrokenHeader(std::string("this [group] ") + flaw);
    }
    if (name.size() > kMaxGroupBytes) {
      return BrokenHeader("the name of this [group] has more than " +
                          std::to_string(kMaxGroupBytes) + " bytes");
    }
    item_ = Item::kNone;
    header_line_ = line_;
    has_group_ = true;
    group_ = name;
    const auto [number, is_new] = groups_.Add(name);
    group_number_ = number;
    if (!IsDotted(name, IsWord)) {
      Report(Diagnostic::Severity::kWarning, line_,
             Quoted(name) + " is not a valid group name");
    } else if (name == "DEFAULT") {
      Report(Diagnostic::Severity::kWarning, line_,
             "\"DEFAULT\" is a group like any other, not a default for all");
    }
    if (!is_new) {
      Report(Diagnostic::Severity::kWarning, line_,
             "the group " + Quoted(name) + " is given twice; both count");
    }
  }

  // Drops a header and the lines up to the next header, which must not be taken
  // for entries of the previous group.
  void BrokenHeader(const std::string& problem) {
    header_line_ = line_;
    has_group_ = false;
    Drop(problem + ", nor is anything up to the next one used");
    item_ = Item::kNone;
  }

  void Assignment(std::string_view text, const char* flaw) {
    const size_t equals = text.find('=');
    const std::string_view name = Trimmed(text.substr(0, equals));
    if (flaw != nullptr) return Drop(std::string("the line ") + flaw);
    if (header_line_ == 0) return Drop("there is no [group] before it");
    if (!has_group_) {
      return Drop("the [group] in line " + std::to_string(header_line_) +
                  " is broken");
    }
    if (equals == std::string_view::npos) {
      return Drop(Quoted(text) + " has no \"=\"");
    }
    if (name.empty()) return Drop("no name before \"=\"");
    item_ = Item::kPending;
    item_line_ = line_;
    blank_lines_ = 0;
    name_ = name;
    value_ = Trimmed(text.substr(equals + 1));
    joined_.clear();
  }

  void Continue(std::string_view text, const char* flaw) {
    if (item_ == Item::kDropped) return;
    if (flaw != nullptr) {
      return Drop("the entry's continuation " + std::string(flaw));
    }
    if (joined_.empty()) joined_ = value_;
    joined_.append(std::exchange(blank_lines_, 0) + 1, '\n');
    joined_ += text;
  }

  // Completes the pending entry: a line came that does not continue it.
  void Flush() {
    if (item_ != Item::kPending) return;
    item_ = Item::kNone;
    const std::string_view value = joined_.empty() ? value_ : Trimmed(joined_);
    Result<ObjectReference> reference = ParseObjectReference(value);
    if (!reference) {
      return Report(
          Diagnostic::Severity::kError, item_line_,
          "ignored: " + Quoted(name_) + ": " + reference.error().message());
    }
    if (!names_.Add({group_number_, name_}).is_new) {
      return Report(Diagnostic::Severity::kError, item_line_,
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
    entry.line = item_line_;
  }

  const EntryPoint& origin_;
  const bool
      is_plain_;  // The text is ASCII without NUL, so no line has a flaw.
  ParsedEntryPoints result_;
  Numbering<std::string_view> groups_;
  Numbering<std::pair<uint32_t, std::string_view>> names_;
  uint32_t line_ = 0;

  uint32_t header_line_ = 0;  // 0: there was no header yet.
  bool has_group_ = false;
  std::string_view group_;
  uint32_t group_number_ = 0;

  Item item_ = Item::kNone;
  uint32_t item_line_ = 0;
  size_t indent_ = 0;
  std::string_view name_;
  std::string_view value_;
  std::string joined_;  // Replaces value_ once it has a second line.
  size_t blank_lines_ = 0;
};

}  // namespace

Result<ObjectReference> ParseObjectReference(std::string_view value_untrusted) {
  const std::string_view value = Trimmed(value_untrusted);
  if (value.empty()) return Invalid(value, "is empty");
  if (value.data() != value_untrusted.data()) {
    return Invalid(value_untrusted, "begins with white space");
  }
  std::string_view object = value;
  ObjectReference reference;
  if (value.back() == ']') {
    const size_t open = value.find('[');
    if (open == std::string_view::npos) {
      return Invalid(value, "has a \"]\" without a \"[\"");
    }
    object = value.substr(0, open);
    if (!ParseExtras(value.substr(open + 1, value.size() - open - 2),
                     reference.extras)) {
      return Invalid(value, "has malformed extras");
    }
  }
  const size_t colon = object.find(':');
  const std::string_view module = Trimmed(object.substr(0, colon));
  if (!IsDotted(module, IsIdentifier)) {
    return Invalid(value, "has no valid module name");
  }
  reference.module = module;
  if (colon != std::string_view::npos) {
    const std::string_view attr = Trimmed(object.substr(colon + 1));
    if (!IsDotted(attr, IsIdentifier)) {
      return Invalid(value, "has no valid attribute after \":\"");
    }
    reference.attr = attr;
  }
  return reference;
}

ParsedEntryPoints ParseEntryPoints(std::string_view text_untrusted,
                                   const EntryPoint& origin) {
  std::string_view rest = text_untrusted;
  const bool has_mark = rest.starts_with("\xef\xbb\xbf");
  if (has_mark) rest.remove_prefix(3);
  Parser parser(origin,
                IsAscii(rest) && rest.find('\0') == std::string_view::npos);
  if (has_mark) {
    parser.Report(Diagnostic::Severity::kWarning, 1,
                  "begins with a byte order mark, which does not belong there");
  }
  const bool has_returns = rest.find('\r') != std::string_view::npos;
  while (!rest.empty()) {
    const size_t end =
        has_returns ? rest.find_first_of("\r\n") : rest.find('\n');
    parser.Line(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool pair = rest.substr(end, 2) == "\r\n";
    rest.remove_prefix(end + (pair ? 2 : 1));
  }
  return std::move(parser).Finish();
}

}  // namespace bulkhead::discovery
