// SPDX-License-Identifier: Apache-2.0
#include "tests/discovery/file_deviations.h"

#include <iconv.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <regex>
#include <utility>

namespace bulkhead::tests {
namespace {

constexpr std::string_view kByteOrderMark = "byte order mark";
constexpr std::string_view kLineBreaks = "VT, FF, NEL, U+2028 in a line";
constexpr std::string_view kNotUtf8 = "line that is not UTF-8";
constexpr std::string_view kNul = "line with a NUL";
constexpr std::string_view kSemicolon = "comment with ;";
constexpr std::string_view kContinuation = "indented line";
constexpr std::string_view kTextAfterHeader = "text after [group]";
constexpr std::string_view kBracketsInGroup = "bracket in a group's name";
constexpr std::string_view kLongGroup = "group's name of over 255 bytes";
constexpr std::string_view kBrokenHeader = "broken [group]";
constexpr std::string_view kNoEquals = "line without =";
constexpr std::string_view kNoName = "empty name";
constexpr std::string_view kBracketName = "name that begins with [";
constexpr std::string_view kMarks = "combining mark in an identifier";
constexpr std::string_view kInvalidValue = "invalid value";
constexpr std::string_view kNotIdentifier = "part that is no identifier";
constexpr std::string_view kMalformedExtras = "malformed extras";
constexpr std::string_view kExtraNames = "extra with - or .";
constexpr std::string_view kDuplicateName = "name given twice";

// The characters at which str.splitlines() ends a line, but a text file does
// not. Each is paired with a white space at which neither does.
constexpr std::pair<const char*, const char*> kBreaks[] = {
    {"\u2000", "\x0b"},   {"\u2001", "\x0c"},   {"\u2002", "\x1c"},
    {"\u2003", "\x1d"},   {"\u2004", "\x1e"},   {"\u2005", "\u0085"},
    {"\u2006", "\u2028"}, {"\u2007", "\u2029"},
};
constexpr std::string_view kNewLine = "\u2008";
constexpr std::string_view kOpen = "\ue000";
constexpr std::string_view kClose = "\ue001";
// The first of 50 digits, which are allowed wherever combining marks are.
constexpr int kDigits = 0x1d7ce;
constexpr int kDigitCount = 50;

constexpr std::string_view kSpaces[] = {
    " ",      "\t",     "\n",     "\x0b",   "\x0c",   "\r",
    "\x1c",   "\x1d",   "\x1e",   "\x1f",   "\u0085", "\u00a0",
    "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
    "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

std::string_view Trim(std::string_view text) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view space : kSpaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        again = true;
      }
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        again = true;
      }
    }
  }
  return text;
}

bool IsUtf8(std::string_view text) {
  static const iconv_t converter = iconv_open("UTF-32LE", "UTF-8");
  std::string input(text);
  std::string output(4 * text.size() + 4, '\0');
  char* from = input.data();
  char* to = output.data();
  size_t from_left = input.size();
  size_t to_left = output.size();
  iconv(converter, nullptr, nullptr, nullptr, nullptr);
  return iconv(converter, &from, &from_left, &to, &to_left) != size_t(-1);
}

size_t Replace(std::string& text, std::string_view from, std::string_view to) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
    ++count;
  }
  return count;
}

std::string Encoded(int code_point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(code_point, bytes);
  return std::string(reinterpret_cast<char*>(bytes),
                     static_cast<size_t>(length));
}

bool IsMark(int code_point) {
  const utf8proc_category_t category = utf8proc_category(code_point);
  return code_point >= 0x80 &&
         (category == UTF8PROC_CATEGORY_MN ||
          category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_PC);
}

class Rewriter {
 public:
  explicit Rewriter(RewrittenFile& file) : file_(file) {
    for (const auto& [stand_in, original] : kBreaks) {
      file_.spellings[stand_in] = original;
    }
    file_.spellings[std::string(kNewLine)] = "\n";
    file_.spellings[std::string(kOpen)] = "[";
    file_.spellings[std::string(kClose)] = "]";
  }

  void Line(std::string_view raw) {
    const std::string line = WithoutBreaks(raw);
    const std::string text(Trim(line));
    if (text.empty()) {
      ++blank_lines_;
      return;
    }
    const bool flawed = IsFlawed(line);
    if (text[0] == '#') {
      if (!flawed) Emit(text);
      return;
    }
    if (text[0] == ';') return Note(kSemicolon);

    const auto indent_end = line.begin() + line.find(text);
    const auto indent = std::count_if(line.begin(), indent_end, [](char c) {
      return (c & '\xc0') != '\x80';
    });
    if (item_ != Item::kNone && indent > indent_) {
      return Continuation(text, flawed);
    }
    Finish();
    indent_ = indent;
    blank_lines_ = 0;
    if (text[0] == '[') return Header(text, flawed);
    Assignment(text, flawed);
  }

  // Emits the pending assignment, which no further line can continue.
  void Finish() {
    if (item_ == Item::kOpen) Emit(WithoutMarks(pending_));
    item_ = Item::kNone;
  }

 private:
  enum class Item { kNone, kOpen, kDropped };

  void Note(std::string_view deviation) { file_.deviations.insert(deviation); }
  void Emit(const std::string& line) { file_.text += line + "\n"; }

  void Drop(std::string_view deviation) {
    if (!deviation.empty()) Note(deviation);
    item_ = has_header_ ? Item::kDropped : Item::kNone;
  }

  std::string WithoutBreaks(std::string_view raw) {
    std::string line(raw);
    for (const auto& [stand_in, original] : kBreaks) {
      if (Replace(line, original, stand_in) > 0) Note(kLineBreaks);
    }
    return line;
  }

  bool IsFlawed(const std::string& line) {
    if (!IsUtf8(line)) return Note(kNotUtf8), true;
    if (line.find('\0') != std::string::npos) return Note(kNul), true;
    return false;
  }

  void Continuation(const std::string& text, bool flawed) {
    Note(kContinuation);
    if (item_ == Item::kDropped) return;
    if (flawed) return Drop("");
    // Neither a line break nor "!" is allowed between the brackets.
    const bool in_extras =
        pending_.find('[', pending_.find('=')) != std::string::npos;
    for (; blank_lines_ >= 0; --blank_lines_) {
      pending_ += in_extras ? "!" : kNewLine;
    }
    blank_lines_ = 0;
    pending_ += text;
  }

  void Header(const std::string& text, bool flawed) {
    const size_t close = text.rfind(']');
    if (close != std::string::npos && close > 1) {
      std::string name = text.substr(1, close - 1);
      has_header_ = true;
      has_group_ = !flawed && file_.Original(name).size() <= 255;
      if (flawed) return;
      if (!has_group_) return Note(kLongGroup);
      if (close + 1 != text.size()) Note(kTextAfterHeader);
      if (std::string_view("[]").find(name.front()) != std::string::npos ||
          std::string_view("[]").find(name.back()) != std::string::npos) {
        Note(kBracketsInGroup);
        Replace(name, "[", kOpen);
        Replace(name, "]", kClose);
      }
      return Emit("[" + name + "]");
    }
    if (text.find('=') != std::string::npos) return Drop(kBracketName);
    Note(kBrokenHeader);
    has_header_ = true;
    has_group_ = false;
  }

  void Assignment(const std::string& text, bool flawed) {
    if (flawed) return Drop("");
    // Bulkhead and importlib.metadata both drop lines before the first group.
    if (!has_header_) return Emit(text);
    if (!has_group_) return Drop("");
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return Drop(kNoEquals);
    if (Trim(std::string_view(text).substr(0, equals)).empty()) {
      return Drop(kNoName);
    }
    pending_ = text;
    item_ = Item::kOpen;
  }

  // Replaces the combining marks in the value with digits.
  std::string WithoutMarks(const std::string& assignment) {
    const size_t value = assignment.find('=') + 1;
    std::string out = assignment.substr(0, value);
    for (size_t at = value; at < assignment.size();) {
      int code_point = 0;
      const auto bytes = static_cast<size_t>(utf8proc_iterate(
          reinterpret_cast<const utf8proc_uint8_t*>(&assignment[at]),
          static_cast<utf8proc_ssize_t>(assignment.size() - at), &code_point));
      const std::string character = assignment.substr(at, bytes);
      at += bytes;
      if (!IsMark(code_point)) {
        out += character;
        continue;
      }
      Note(kMarks);
      const auto [digit, is_new] =
          digits_.try_emplace(character, Encoded(kDigits + next_digit_));
      if (is_new) next_digit_ = (next_digit_ + 1) % kDigitCount;
      file_.spellings[digit->second] = character;
      out += digit->second;
    }
    return out;
  }

  RewrittenFile& file_;
  bool has_header_ = false;
  bool has_group_ = false;
  Item item_ = Item::kNone;
  std::ptrdiff_t indent_ = 0;
  int blank_lines_ = 0;
  std::string pending_;
  std::map<std::string, std::string> digits_;
  int next_digit_ = 0;
};

// Returns the extras of the value, or nullopt if they are malformed.
std::optional<std::vector<std::string>> Extras(const std::string& value) {
  static const std::regex kExtra("[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?");
  std::vector<std::string> extras;
  const size_t open = value.find('[');
  if (open == std::string::npos) return extras;
  std::string_view rest(value);
  rest = rest.substr(open + 1, rest.rfind(']') - open - 1);
  if (rest.find('\n') != std::string_view::npos) return std::nullopt;
  if (Trim(rest).empty()) return extras;
  for (bool more = true; more;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    extras.emplace_back(Trim(rest.substr(0, comma)));
    if (!std::regex_match(extras.back(), kExtra)) return std::nullopt;
    more = comma < rest.size();
    rest.remove_prefix(more ? comma + 1 : comma);
  }
  return extras;
}

}  // namespace

std::vector<std::string_view> FileDeviations() {
  return {kByteOrderMark, kLineBreaks,      kNotUtf8,         kNul,
          kSemicolon,     kContinuation,    kTextAfterHeader, kBracketsInGroup,
          kLongGroup,     kBrokenHeader,    kNoEquals,        kNoName,
          kBracketName,   kMarks,           kInvalidValue,    kNotIdentifier,
          kExtraNames,    kMalformedExtras, kDuplicateName};
}

std::string RewrittenFile::Original(std::string_view rewritten) const {
  std::string original(rewritten);
  for (const auto& [stand_in, meant] : spellings) {
    Replace(original, stand_in, meant);
  }
  return original;
}

bool HasPlaceholder(std::string_view text) {
  RewrittenFile none;
  const Rewriter rewriter(none);
  for (const auto& [stand_in, meant] : none.spellings) {
    if (text.find(stand_in) != std::string_view::npos) return true;
  }
  // The UTF-8 prefix of the placeholder digits.
  return text.find("\xf0\x9d\x9f") != std::string_view::npos;
}

RewrittenFile Rewrite(std::string_view text) {
  RewrittenFile file;
  if (text.starts_with("\xef\xbb\xbf")) {
    file.deviations.insert(kByteOrderMark);
    text.remove_prefix(3);
  }
  Rewriter rewriter(file);
  std::string lines(text);
  Replace(lines, "\r\n", "\n");
  Replace(lines, "\r", "\n");
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    rewriter.Line(std::string_view(lines).substr(at, end - at));
    at = end + 1;
  }
  rewriter.Finish();
  return file;
}

std::vector<ReadEntry> Expected(RewrittenFile& file,
                                const std::vector<OracleEntry>& oracle) {
  std::vector<ReadEntry> expected;
  std::set<std::pair<std::string, std::string>> names;
  const auto note = [&](std::string_view name) {
    file.deviations.insert(name);
  };
  for (const OracleEntry& read : oracle) {
    if (!read.valid) {
      note(kInvalidValue);
      continue;
    }
    if (!read.identifiers) {
      note(kNotIdentifier);
      continue;
    }
    ReadEntry entry = {
        file.Original(read.entry.group), file.Original(read.entry.name),
        file.Original(read.entry.value), file.Original(read.entry.module),
        file.Original(read.entry.attr),  {}};
    const auto extras = Extras(entry.value);
    if (!extras) {
      note(kMalformedExtras);
      continue;
    }
    if (*extras != read.entry.extras) note(kExtraNames);
    entry.extras = *extras;
    if (!names.emplace(entry.group, entry.name).second) {
      note(kDuplicateName);
      continue;
    }
    expected.push_back(std::move(entry));
  }
  return expected;
}

}  // namespace bulkhead::tests
