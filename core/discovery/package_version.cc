// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/package_version.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

// A number without leading zeros. Kept as text, since it may have any length.
struct Number {
  std::string digits;

  std::strong_ordering operator<=>(const Number& other) const {
    if (const auto by_size = digits.size() <=> other.digits.size();
        by_size != 0) {
      return by_size;
    }
    return digits <=> other.digits;
  }
  bool operator==(const Number&) const = default;
};

// A parsed version. Comparing the members in this order gives the order of PEP
// 440.
struct Key {
  // The order of a missing part: below or above all values of the part.
  enum class Rank { kBelow, kPresent, kAbove };
  struct Part {
    Rank rank = Rank::kBelow;
    char letter = 0;
    Number number;
    auto operator<=>(const Part&) const = default;
  };
  struct LocalSegment {
    bool numeric = false;
    Number number;
    std::string text;
    auto operator<=>(const LocalSegment&) const = default;
  };

  Number epoch;
  std::vector<Number> release;
  Part pre;
  Part post;
  Part dev;
  std::vector<LocalSegment> local;

  std::strong_ordering operator<=>(const Key&) const = default;
};

// Reads a version from left to right. Each Take function consumes the item in
// its name if that comes next, and otherwise consumes nothing.
class Scanner {
 public:
  explicit Scanner(std::string text) : text_(std::move(text)) {}

  bool done() const { return at_ == text_.size(); }
  size_t mark() const { return at_; }
  void Rewind(size_t mark) { at_ = mark; }

  bool Take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeSeparator() { return Take('-') || Take('_') || Take('.'); }
  // Takes the first of `words` that matches. List a word before its prefixes.
  std::optional<std::string_view> TakeWord(
      std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      if (std::string_view(text_).substr(at_).starts_with(word)) {
        at_ += word.size();
        return word;
      }
    }
    return std::nullopt;
  }
  std::optional<Number> TakeNumber() {
    const size_t start = at_;
    while (!done() && IsAsciiDigit(text_[at_])) ++at_;
    if (at_ == start) return std::nullopt;
    size_t first = start;
    while (first < at_ && text_[first] == '0') ++first;
    return Number{text_.substr(first, at_ - first)};
  }
  std::string TakeAlphanumerics() {
    const size_t start = at_;
    while (!done() && (IsAsciiDigit(text_[at_]) || IsAsciiLetter(text_[at_]))) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

// Takes [separator] word [separator] [number], or nothing at all.
std::optional<Key::Part> TakePart(
    Scanner& scanner, std::initializer_list<std::string_view> words) {
  const size_t start = scanner.mark();
  scanner.TakeSeparator();
  const std::optional<std::string_view> word = scanner.TakeWord(words);
  if (!word) {
    scanner.Rewind(start);
    return std::nullopt;
  }
  const size_t after_word = scanner.mark();
  scanner.TakeSeparator();
  std::optional<Number> number = scanner.TakeNumber();
  if (!number) scanner.Rewind(after_word);
  return Key::Part{Key::Rank::kPresent, word->front(),
                   number.value_or(Number{})};
}

// Takes a post-release: "-1", or what TakePart() takes for "post".
std::optional<Key::Part> TakePost(Scanner& scanner) {
  const size_t start = scanner.mark();
  if (scanner.Take('-')) {
    if (std::optional<Number> number = scanner.TakeNumber()) {
      return Key::Part{Key::Rank::kPresent, 'p', *number};
    }
    scanner.Rewind(start);
  }
  std::optional<Key::Part> post = TakePart(scanner, {"post", "rev", "r"});
  if (post) post->letter = 'p';
  return post;
}

// Takes "+" and a local version, if any. Returns false if a segment is empty.
bool TakeLocal(Scanner& scanner, std::vector<Key::LocalSegment>& local) {
  if (!scanner.Take('+')) return true;
  do {
    Key::LocalSegment segment;
    segment.text = scanner.TakeAlphanumerics();
    if (segment.text.empty()) return false;
    Scanner digits(segment.text);
    if (std::optional<Number> number = digits.TakeNumber();
        number && digits.done()) {
      segment = {true, *number, ""};
    }
    local.push_back(std::move(segment));
  } while (scanner.TakeSeparator());
  return true;
}

std::optional<Key> Parse(std::string_view text) {
  std::string lower;
  for (const char c : Trimmed(text)) lower += AsciiLower(c);
  Scanner scanner(std::move(lower));
  scanner.Take('v');

  Key key;
  std::optional<Number> number = scanner.TakeNumber();
  if (!number) return std::nullopt;
  if (scanner.Take('!')) {
    key.epoch = *number;
    number = scanner.TakeNumber();
    if (!number) return std::nullopt;
  }
  key.release.push_back(*number);
  while (true) {
    const size_t before = scanner.mark();
    if (!scanner.Take('.')) break;
    number = scanner.TakeNumber();
    if (!number) {
      scanner.Rewind(before);
      break;
    }
    key.release.push_back(*number);
  }
  while (!key.release.empty() && key.release.back().digits.empty()) {
    key.release.pop_back();
  }

  std::optional<Key::Part> pre = TakePart(
      scanner, {"alpha", "a", "beta", "b", "preview", "pre", "c", "rc"});
  // "c", "pre" and "preview" are other spellings of "rc".
  if (pre && pre->letter != 'a' && pre->letter != 'b') pre->letter = 'r';
  const std::optional<Key::Part> post = TakePost(scanner);
  const std::optional<Key::Part> dev = TakePart(scanner, {"dev"});
  if (!TakeLocal(scanner, key.local) || !scanner.done()) return std::nullopt;

  // A development release of the final version (1.0.dev1) comes before the
  // pre-releases (1.0a1).
  const bool dev_only = dev && !pre && !post;
  key.pre = pre.value_or(
      Key::Part{dev_only ? Key::Rank::kBelow : Key::Rank::kAbove, 0, {}});
  key.post = post.value_or(Key::Part{Key::Rank::kBelow, 0, {}});
  key.dev = dev.value_or(Key::Part{Key::Rank::kAbove, 0, {}});
  return key;
}

}  // namespace

std::weak_ordering CompareVersions(std::string_view left_untrusted,
                                   std::string_view right_untrusted) {
  const std::optional<Key> left = Parse(left_untrusted);
  const std::optional<Key> right = Parse(right_untrusted);
  if (left && right) return *left <=> *right;
  if (left.has_value() != right.has_value()) {
    return left.has_value() <=> right.has_value();
  }
  return left_untrusted <=> right_untrusted;
}

}  // namespace bulkhead::discovery
