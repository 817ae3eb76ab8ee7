// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/text.h"

#include <cstddef>
#include <cstdint>

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxQuotedBytes = 200;

// The bytes of the well-formed sequence at the start of `text`, or 0.
size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const auto in = [](int value, int low, int high) {
    return value >= low && value <= high;
  };
  const int first = byte(0);
  const int second = byte(1);
  if (first < 0x80) return 1;
  if (in(first, 0xc2, 0xdf)) return in(second, 0x80, 0xbf) ? 2 : 0;
  if (in(first, 0xe0, 0xef)) {
    const int low = first == 0xe0 ? 0xa0 : 0x80;
    const int high = first == 0xed ? 0x9f : 0xbf;
    return in(second, low, high) && in(byte(2), 0x80, 0xbf) ? 3 : 0;
  }
  if (in(first, 0xf0, 0xf4)) {
    const int low = first == 0xf0 ? 0x90 : 0x80;
    const int high = first == 0xf4 ? 0x8f : 0xbf;
    return in(second, low, high) && in(byte(2), 0x80, 0xbf) &&
                   in(byte(3), 0x80, 0xbf)
               ? 4
               : 0;
  }
  return 0;
}

void AppendEscaped(char c, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<uint8_t>(c);
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

}  // namespace

bool IsValidUtf8(std::string_view text_untrusted) {
  while (!text_untrusted.empty()) {
    const size_t length = Utf8SequenceLength(text_untrusted);
    if (length == 0) return false;
    text_untrusted.remove_prefix(length);
  }
  return true;
}

std::string Quoted(std::string_view text_untrusted) {
  std::string out = "\"";
  size_t taken = 0;
  while (!text_untrusted.empty() && taken < kMaxQuotedBytes) {
    const size_t length = Utf8SequenceLength(text_untrusted);
    const char first = text_untrusted.front();
    // U+0080 to U+009F are control characters too.
    const bool c1 =
        length == 2 && first == '\xc2' && text_untrusted[1] < '\xa0';
    if (first == '"' || first == '\\') {
      out += '\\';
      out += first;
    } else if (length == 0 || c1 || static_cast<uint8_t>(first) < 0x20 ||
               first == 0x7f) {
      AppendEscaped(first, out);
      text_untrusted.remove_prefix(1);
      ++taken;
      continue;
    } else {
      out += text_untrusted.substr(0, length);
    }
    text_untrusted.remove_prefix(length);
    taken += length;
  }
  return out + (text_untrusted.empty() ? "\"" : "\"...");
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsAsciiSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsAsciiSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool IsAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

bool IsAsciiLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace bulkhead::discovery
