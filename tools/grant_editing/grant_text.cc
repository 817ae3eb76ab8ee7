// SPDX-License-Identifier: Apache-2.0
#include "tools/grant_editing/grant_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/toml.h"
#include "core/grants/grants.h"

namespace bulkhead::grant_editing {
namespace {

using grants::Grant;
using grants::ParseGrants;
using grants::Permissions;

// The lines of a value, counted from 1, both ends included.
struct Span {
  uint32_t first;
  uint32_t last;
  uint32_t end_column;  // After the value, on the last line, counted from 1.
};

// The lines of one [[grant]] in the text.
struct Place {
  uint32_t header;
  uint32_t last;  // The last line with a key or a value.
  std::map<std::string, Span, std::less<>> keys;
};

struct Element {
  Grant grant;
  Place place;
};

// Returns `text` as a string of TOML.
std::string String(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string List(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    list += (list.empty() ? "" : ", ") + String(text);
  }
  return "[" + list + "]";
}

// Returns the keys and values of a grant in TOML, in the order in which they
// are written. A key with an empty value is not written.
std::vector<std::pair<std::string, std::string>> Values(
    const Permissions& permissions) {
  const auto list = [](const std::vector<std::string>& texts) {
    return texts.empty() ? "" : List(texts);
  };
  const auto number = [](uint64_t value) {
    return value == 0 ? "" : std::to_string(value);
  };
  return {{"devices", list(permissions.devices)},
          {"read", list(permissions.read)},
          {"ioctls", list(permissions.ioctls)},
          {"memory_bytes", number(permissions.memory_bytes)},
          {"threads", number(permissions.threads)}};
}

// Returns the byte offset of a column in a line of UTF-8. Columns count
// characters, from 1.
size_t OffsetOf(const std::string& line, uint32_t column) {
  size_t offset = 0;
  for (uint32_t at = 1; at < column && offset < line.size(); ++at) {
    ++offset;
    while (offset < line.size() &&
           (static_cast<unsigned char>(line[offset]) & 0xc0) == 0x80) {
      ++offset;
    }
  }
  return offset;
}

// The lines of a grants.toml, and for each grant the lines that it takes.
// Edits change the lines; Finish() checks the result.
class Text {
 public:
  static Result<Text> Parse(std::string_view source) {
    Text text;
    for (std::string_view rest = source; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      text.lines_.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (HasTooManyTomlDots(source)) {
      return Status(Code::kInvalidArgument, "it has too many dots");
    }
    const toml::parse_result parsed = toml::parse(source);
    if (!parsed) {
      return Status(Code::kInvalidArgument,
                    "line " +
                        std::to_string(parsed.error().source().begin.line) +
                        " cannot be parsed; mend it first");
    }
    const toml::array* array = parsed.table().get_as<toml::array>("grant");
    std::map<uint32_t, Place> places;  // by the line of [[grant]]
    for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
      if (const toml::table* table = (*array)[i].as_table()) {
        places.emplace(table->source().begin.line, PlaceOf(*table));
      }
    }
    for (Grant& grant : ParseGrants(source, "").grants) {
      Place place = places[grant.line];
      if (!text.HasLinesOfItsOwn(place)) return ForAPerson();
      text.elements_.push_back({std::move(grant), std::move(place)});
    }
    return text;
  }

  std::vector<Element>& elements() { return elements_; }

  // Rewrites the lines of the keys that change. Elements must be rewritten and
  // erased from the last to the first, since an edit moves the lines after it.
  void Rewrite(const Element& element, const Permissions& permissions) {
    const Place& place = element.place;
    const auto before = Values(element.grant.permissions);
    const auto after = Values(permissions);
    std::vector<std::string> added;
    std::vector<std::pair<Span, std::string>> changes;
    for (size_t i = 0; i < after.size(); ++i) {
      const auto& [key, value] = after[i];
      if (value == before[i].second) continue;
      const std::string line = value.empty() ? "" : key + " = " + value;
      const auto span = place.keys.find(key);
      if (span == place.keys.end()) {
        added.push_back(line);
      } else {
        changes.push_back({span->second, line});
      }
    }
    // New keys go to the end of the grant. The other lines are changed from the
    // last to the first, so that their numbers stay valid.
    lines_.insert(lines_.begin() + place.last, added.begin(), added.end());
    std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
      return a.first.first > b.first.first;
    });
    for (const auto& [span, replacement] : changes) {
      const std::string& last = lines_[span.last - 1];
      const std::string line =
          replacement + last.substr(OffsetOf(last, span.end_column));
      Erase(span.first, span.last);
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      lines_.insert(lines_.begin() + (span.first - 1), line);
    }
  }

  void Erase(const Place& place) { Erase(place.header, place.last); }

  void Append(const Grant& grant) {
    if (!lines_.empty() && !lines_.back().empty()) lines_.push_back("");
    lines_.push_back("[[grant]]");
    lines_.push_back("backend = " + String(grant.backend));
    lines_.push_back(grant.hash.empty() ? "any_hash = true"
                                        : "hash = " + String(grant.hash));
    for (const auto& [key, value] : Values(grant.permissions)) {
      if (!value.empty()) lines_.push_back(key + " = " + value);
    }
  }

  // Returns the edited text; kInvalidArgument if its grants are not `expected`.
  Result<std::string> Finish(const std::vector<Grant>& expected) const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    const std::vector<Grant> found = ParseGrants(text, "").grants;
    const auto same = [](const Grant& a, const Grant& b) {
      return a.backend == b.backend && a.hash == b.hash &&
             a.permissions == b.permissions &&
             a.reserved_name == b.reserved_name;
    };
    if (std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                   same)) {
      return text;
    }
    return ForAPerson();
  }

 private:
  static Status ForAPerson() {
    return Status(Code::kInvalidArgument,
                  "it is written in a way that only a person can edit");
  }

  static Place PlaceOf(const toml::table& table) {
    Place place{.header = table.source().begin.line,
                .last = table.source().begin.line};
    for (const auto& [key, node] : table) {
      const Span span{key.source().begin.line, node.source().end.line,
                      node.source().end.column};
      place.last = std::max(place.last, span.last);
      place.keys.emplace(key.str(), span);
    }
    return place;
  }

  // Returns whether each key of the grant has lines of its own, since Rewrite()
  // replaces whole lines. Keys of inline tables share lines.
  bool HasLinesOfItsOwn(const Place& place) const {
    std::map<uint32_t, uint32_t> last_by_first;
    for (const auto& [key, span] : place.keys) {
      if (!last_by_first.emplace(span.first, span.last).second) return false;
    }
    // Each key has to begin after the last line of the key before it.
    uint32_t line = place.header;
    for (const auto& [first, last] : last_by_first) {
      if (first <= line || last < first) return false;
      line = last;
    }
    return place.header > 0 && line <= lines_.size();
  }

  void Erase(uint32_t first, uint32_t last) {
    lines_.erase(lines_.begin() + (first - 1), lines_.begin() + last);
  }

  std::vector<std::string> lines_;
  std::vector<Element> elements_;
};

}  // namespace

Result<std::string> WithGrant(std::string_view text, const std::string& backend,
                              const std::string& hash,
                              const Permissions& permissions) {
  Result<Text> parsed = Text::Parse(text);
  if (!parsed) return parsed.error();
  std::vector<Grant> expected;
  const Element* known = nullptr;
  for (const Element& element : parsed->elements()) {
    expected.push_back(element.grant);
    if (known != nullptr || element.grant.backend != backend ||
        element.grant.hash != hash) {
      continue;
    }
    known = &element;
    Add(permissions, expected.back().permissions);
    parsed->Rewrite(element, expected.back().permissions);
  }
  if (known == nullptr) {
    expected.push_back(
        {.backend = backend, .hash = hash, .permissions = permissions});
    parsed->Append(expected.back());
  }
  return parsed->Finish(expected);
}

Result<std::string> WithoutGrant(
    std::string_view text, const std::string& backend,
    const std::optional<Permissions>& permissions) {
  Result<Text> parsed = Text::Parse(text);
  if (!parsed) return parsed.error();
  std::vector<Grant> expected;
  bool changed = false;
  auto& elements = parsed->elements();
  for (auto element = elements.rbegin(); element != elements.rend();
       ++element) {
    Permissions left = element->grant.permissions;
    if (element->grant.backend == backend) {
      permissions ? Remove(*permissions, left) : void(left = Permissions());
    }
    // Removes a grant that has no permissions left. But if the user named some
    // permissions, keeps a grant that had none before, or that also grants a
    // reserved name.
    const bool whole = element->grant.backend == backend && left.empty() &&
                       (!permissions || (!element->grant.permissions.empty() &&
                                         !element->grant.reserved_name));
    if (whole) {
      parsed->Erase(element->place);
    } else if (left != element->grant.permissions) {
      parsed->Rewrite(*element, left);
    }
    changed = changed || whole || left != element->grant.permissions;
    if (whole) continue;
    expected.insert(expected.begin(), element->grant);
    expected.front().permissions = left;
  }
  if (!changed) return Status(Code::kNotFound, "it grants no such thing");
  return parsed->Finish(expected);
}

}  // namespace bulkhead::grant_editing
